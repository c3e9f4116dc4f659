/** Formats of texts in schemas, as k8s.io/kube-openapi/pkg/validation/strfmt validates them. */
import { compilePattern, type Pattern } from '../re2.ts';

type Check = (text: string) => boolean;

const matches =
  (source: RegExp): Check =>
  (text) =>
    source.test(text);

const uuid = matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i);
const uuid3 = matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i);
const uuid4 = matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i);
const uuid5 = matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i);

const compiled = new Map<string, Pattern>();

/** Compiles an expression on its first use. */
function lazyPattern(source: string): Pattern {
  const known = compiled.get(source) ?? compilePattern(source);
  compiled.set(source, known);
  return known;
}

/** The expression is upstream's; it has nested repetitions, which only RE2 matches in linear time. */
const hostnameSource =
  '^([a-zA-Z0-9\\p{S}\\p{L}]((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|([a-zA-Z0-9\\p{S}\\p{L}](([a-zA-Z0-9-\\p{S}\\p{L}]{0,61}[a-zA-Z0-9\\p{S}\\p{L}])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})$';

function isHostname(text: string): boolean {
  if (text.length > 255) return false;
  if (/^[a-z0-9.-]*$/i.test(text)) return isPlainHostname(text);
  if (byteLength(text) > 255) return false;
  return lazyPattern(hostnameSource).matches(text) && text.split('.').every((part) => byteLength(part) <= 63);
}

/** Does the same for letters, digits and hyphens, without the large expression. */
function isPlainHostname(text: string): boolean {
  const labels = text.split('.');
  const last = labels.pop() ?? '';
  if (labels.length === 0) return /^[a-z0-9](?:-?[a-z0-9]{0,62})?$/i.test(last) && last.length <= 63;
  return (
    /^[a-z]{2,63}$/i.test(last) &&
    labels.every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(label))
  );
}

const byteLength = (text: string) => new TextEncoder().encode(text).length;

function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^\d{1,10}$/.test(part) && Number(part) <= 255);
}

/** Returns true for eight groups, of which `::` may replace some and an IPv4 address the last two. */
function isIpv6(text: string): boolean {
  if (!text.includes(':') || text.length > 45) return false;
  const halves = text.split('::');
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1) ?? '';
  const plain = last.includes('.') ? groups.slice(0, -1) : groups;
  if (last.includes('.') && !isIpv4(last)) return false;
  if (!plain.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
  const count = plain.length + (last.includes('.') ? 2 : 0);
  return halves.length === 1 ? count === 8 : halves.length === 2 && count < 8;
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/');
  if (more.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
  return isIpv4(address) ? Number(bits) <= 32 : isIpv6(address) && Number(bits) <= 128;
}

/** Hardware addresses of 6, 8 or 20 bytes, in the three forms that Go's net.ParseMAC reads. */
const isMac = matches(
  /^(?:[0-9a-f]{2}(?:(?:(:|-)[0-9a-f]{2})(?:\1[0-9a-f]{2}){4}(?:(?:\1[0-9a-f]{2}){2}|(?:\1[0-9a-f]{2}){14})?)|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}(?:\.[0-9a-f]{4}|(?:\.[0-9a-f]{4}){7})?)$/i,
);

/** Go's url.ParseRequestURI: an absolute URI or an absolute path, without control characters and spaces. */
function isRequestUri(text: string): boolean {
  if (text === '' || hasControl(text) || !/^(?:\/|[a-z][a-z0-9+.-]*:)/i.test(text)) return false;
  if (/%(?![0-9a-f]{2})/i.test(text.split('?')[0] ?? '')) return false;
  if (text.startsWith('/') && !text.startsWith('//')) return true;
  const rest = text.startsWith('//') ? text : text.slice(text.indexOf(':') + 1);
  if (!rest.startsWith('//')) return rest !== '' || text.includes(':');
  const authority = rest.slice(2).split(/[/?#]/)[0] ?? '';
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  return /^(?:\[[0-9a-f:.%a-z]*\]|[^\s"<>[\]\\^`{|}:]*)(?::\d*)?$/i.test(host);
}

/** Returns true for a text with characters below the space, or DEL. */
function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

/** Returns true for `user@host`, also with a name before it in the form `Name <user@host>`. */
function isEmail(text: string): boolean {
  if (text.length > 4096) return false;
  const trimmed = text.trim();
  const inner = trimmed.endsWith('>') ? trimmed.slice(trimmed.lastIndexOf('<') + 1, -1) : trimmed;
  const at = inner.lastIndexOf('@');
  const [user, host] = [inner.slice(0, at), inner.slice(at + 1)];
  return (
    at > 0 && (isDotAtom(user) || isQuotedText(user)) && (isDotAtom(host) || /^\[[^[\]\s]+\]$/.test(host))
  );
}

const isDotAtom = (text: string) =>
  text.split('.').every((part) => part !== '' && /^[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+$/.test(part));
const isQuotedText = (text: string) => text.length > 2 && /^"(?:[^"\\]|\\.)+"$/.test(text);

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = [...digits].reduce(
    (total, digit, at) => total + (digit === 'X' ? 10 : Number(digit)) * (at + 1),
    0,
  );
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^\d{13}$/.test(digits)) return false;
  return (
    [...digits].reduce((total, digit, at) => total + Number(digit) * (at % 2 === 0 ? 1 : 3), 0) % 10 === 0
  );
}

const cardNumber =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;

/** The last digit of a card number is a check digit by Luhn's formula. */
function isCreditCard(text: string): boolean {
  const digits = text.replace(/\D/g, '');
  if (!cardNumber.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const weighted = Number(digit) * (at % 2 === 0 ? 1 : 2);
    return total + (weighted > 9 ? weighted - 9 : weighted);
  }, 0);
  return sum % 10 === 0;
}

function isRgb(text: string): boolean {
  const parts = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text);
  return (
    parts?.slice(1).every((part) => Number(part) <= 255 && (part === '0' || !part.startsWith('0'))) ?? false
  );
}

function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!parts) return false;
  const [year = 0, month = 0, day = 0] = parts.slice(1).map(Number);
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return month >= 1 && month <= 12 && day >= 1 && day <= (days[month - 1] ?? 0);
}

/** A date and a time with a zone, as RFC 3339 has them; letters may be small. */
function isDateTime(text: string): boolean {
  const [date = '', time = '', ...more] = text.toLowerCase().split('t');
  if (more.length > 0 || !isDate(date)) return false;
  const parts = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/.exec(time);
  const [hours = 99, minutes = 99, seconds = 99] = parts?.slice(1).map(Number) ?? [];
  return hours <= 23 && minutes <= 59 && seconds <= 59;
}

const goDuration = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
/** A number and a unit in words, anywhere in the text, as Scala writes durations. */
const scalaDuration =
  '(?i)[0-9]\\s*(?:(?:ns|us|µs|ms|s|m|h|hr|d|w|wk)(?:[^a-zµ]|$)|(?:nano|micro|milli|sec|min|hour|day|week))';
/** Longest text that is searched for words. */
const maxDuration = 1000;
const isDuration: Check = (text) =>
  goDuration.test(text) || (text.length <= maxDuration && lazyPattern(scalaDuration).matches(text));

const isBase64: Check = (text) => text.length % 4 === 0 && text !== '' && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['bsonobjectid', matches(/^[0-9a-f]{24}$/i)],
  ['uri', isRequestUri],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', uuid],
  ['uuid3', uuid3],
  ['uuid4', uuid4],
  ['uuid5', uuid5],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', matches(/^\d{3}[- ]\d{2}[- ]\d{4}$/)],
  ['hexcolor', matches(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i)],
  ['rgbcolor', isRgb],
  ['byte', isBase64],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
]);

/**
 * Returns the check of a format; undefined for a format that Kubernetes does not know, which restricts
 * nothing. Hyphens do not matter: `date-time` and `datetime` are the same.
 */
export const formatCheck = (format: string): Check | undefined => checks.get(format.replaceAll('-', ''));
