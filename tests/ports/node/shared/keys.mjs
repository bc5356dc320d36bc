// What looks like a key, so that no error shows it.

const LOOKS = [
  /AIza[\w-]{20,}/,
  /ya29\.[\w.-]{10,}/,
  /\bsk-[\w-]{16,}/,
  /\bgh[pousr]_[0-9A-Za-z]{20,}/,
  /\bgithub_pat_\w{20,}/,
  /\bxox[abprs]-[0-9A-Za-z-]{10,}/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\beyJ[\w-]{8,500}\.[\w-]{8,}\.[\w-]*/,
  /(?<=[Bb]earer )[\w.~+/=-]{8,}/,
  /(?<=[Kk][Ee][Yy]=)[\w%.-]{8,}/,
  /(?<=:\/\/)[^\s/?#@]{6,256}(?=@)/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?!-----(?:BEGIN|END) )[^])*(?:-----END [A-Z ]*PRIVATE KEY-----)?/,
];

export const KEYS = new RegExp(LOOKS.map((look) => look.source).join("|"), "g");
