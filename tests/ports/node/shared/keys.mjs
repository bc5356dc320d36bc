// What no error shows: private texts, and what looks like a key.

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

const KEYS = new RegExp(LOOKS.map((look) => look.source).join("|"), "g");
const LEAST = 8;

/** A text as it is, and as JSON may hold it. */
function written(secret) {
  const json = JSON.stringify(secret.trim()).slice(1, -1);
  const escape = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return [secret, secret.trim(), json, json.replace(/[\u0080-\uffff]/g, escape)];
}

/** Where a text stands: anywhere, or as a word of its own if it is short. */
function places(secret) {
  if (secret.length >= LEAST) return secret;
  const plain = secret.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}_])${plain}(?![\\p{L}\\p{N}_])`, "gu");
}

/** The text with a sign in place of private texts, the longest first, and of what looks like a key. */
export function hidden(text, secrets, sign) {
  const forms = secrets.filter((secret) => secret?.trim()).flatMap(written);
  forms.sort((one, other) => other.length - one.length);
  return forms.reduce((rest, secret) => rest.replaceAll(places(secret), () => sign), text).replace(KEYS, sign);
}
