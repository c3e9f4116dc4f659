/** What is left out of a support bundle: whatever may be a password, a token or a private key. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';

export const leftOut = '(left out)';

const secretName = /passw|pwd$|token|secret|credential|private.?key|api.?key|authorization|bearer/i;
/** Such fields say which Secret, or how long a token lasts. */
const harmlessName = /(name|namespace|ref|seconds|path|optional|type|kind)s?$/i;
const isSecretName = (name: string) => secretName.test(name) && !harmlessName.test(name);

/** What can be told by its form, in any text. */
const forms: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, leftOut],
  [/\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+/g, leftOut],
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, leftOut],
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${leftOut}`],
  [/(\b\w+:\/\/[^\s/@:]*:)[^\s/@]+@/g, `$1${leftOut}@`],
  [
    /((?:passw\w*|pwd|secret|token|api[-_]?key|private[-_]?key|credentials?|(?:client-)?key-data)[\w-]*\\?["']?[^\S\n]*[=:][^\S\n]*)(?!\(left out\))(?:\\?"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;&"'}]+)/gi,
    `$1${leftOut}`,
  ],
];

/** Of so many characters a value is looked for everywhere; a shorter one is in too many words. */
const leastLength = 6;

export class SecretFilter {
  readonly #known: readonly RegExp[];

  /** `values` are known to be secret, in whatever form they come again. */
  constructor(values: Iterable<string>) {
    const all = new Set([...values].flatMap(spellings).filter((text) => text.length >= leastLength));
    const escaped = [...all].toSorted((a, b) => b.length - a.length).map((text) => RegExp.escape(text));
    const groups = Array.from({ length: Math.ceil(escaped.length / 200) }, (_, index) =>
      escaped.slice(index * 200, (index + 1) * 200),
    );
    this.#known = groups.map((group) => new RegExp(group.join('|'), 'g'));
  }

  text(text: string): string {
    let clean = this.withoutKnown(text);
    for (const [form, instead] of forms) clean = clean.replace(form, instead);
    return clean;
  }

  /** An object of the API, or what is in it. */
  object(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return this.#list(value);
    if (!isRecord(value)) return value;
    const members = Object.entries(value).map(([name, inner]) => [name, this.#member(value, name, inner)]);
    return Object.fromEntries(members);
  }

  #member(of: JsonObject, name: string, value: unknown): unknown {
    const isContent = of.kind === 'Secret' || of.kind === 'ConfigMap';
    if (isContent && ['data', 'stringData', 'binaryData'].includes(name)) return emptied(value);
    if (name === 'managedFields') return undefined;
    // Of a variable its name is enough: what it is set to may be anything.
    if (name === 'env' && Array.isArray(value))
      return value.map((entry) =>
        isRecord(entry) && 'value' in entry ? { ...entry, value: leftOut } : this.object(entry),
      );
    if (name.endsWith('/last-applied-configuration')) return leftOut;
    if (isSecretName(name) && (typeof value === 'string' || typeof value === 'number')) return leftOut;
    return this.object(value);
  }

  /** Of words of a command line, the one behind `--password` is left out. */
  #list(values: readonly unknown[]): unknown[] {
    return values.map((value, index) => {
      const before = values[index - 1];
      const isNamed = typeof before === 'string' && /^--?[\w-]+$/.test(before) && isSecretName(before);
      return isNamed && typeof value === 'string' ? leftOut : this.object(value);
    });
  }

  /** Of what was cleaned already, where the forms would find names of fields. */
  withoutKnown(text: string): string {
    let clean = text;
    for (const known of this.#known) clean = clean.replace(known, leftOut);
    return clean;
  }
}

const emptied = (value: unknown) =>
  isRecord(value) ? Object.fromEntries(Object.keys(value).map((key) => [key, leftOut])) : leftOut;

/** As it is, line by line, and as it stands in JSON, in a URL and in base64. */
function spellings(value: string): string[] {
  const lines = value.split('\n').map((line) => line.trim());
  return [value.trim(), ...lines].flatMap((text) => [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text.toWellFormed()),
    Buffer.from(text).toString('base64'),
  ]);
}

/** Keys of Secrets that hold nothing secret, and much that is in all other objects too. */
const openKeys = ['ca.crt', 'tls.crt', 'namespace', 'username', 'host', 'port', 'user'];

/** The values of a Secret that nobody may see. */
export function valuesOf(secret: JsonObject): string[] {
  const data = isRecord(secret.data) ? secret.data : {};
  const only = secret.type === 'bootstrap.kubernetes.io/token' ? 'token-secret' : undefined;
  return Object.entries(data)
    .filter(([key]) => (only === undefined ? !openKeys.includes(key) : key === only))
    .map(([, value]) => Buffer.from(String(value), 'base64').toString('utf8'))
    .flatMap((text) => [text, ...leaves(text)]);
}

/** The texts in a value that is JSON, such as the passwords of registries. */
function leaves(text: string): string[] {
  if (!text.startsWith('{')) return [];
  try {
    const found: string[] = [];
    JSON.parse(text, (_, value) => {
      if (typeof value === 'string') found.push(value);
      return value;
    });
    return found;
  } catch {
    return [];
  }
}
