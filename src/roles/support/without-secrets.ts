/** Removes from a support bundle whatever may be a password, a token or a private key. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';

export const leftOut = '(left out)';

const secretName =
  /passw|pass$|pass.?(?:phrase|code)|pwd$|token|secret|credential|(?:private|api|access|account|encryption|signing|auth).?key|authorization|bearer/i;
/** Ends of the names of fields that hold no secret, but for example the name of a Secret or a lifetime. */
const harmlessName = /(name|namespace|ref|seconds|path|optional|type|kind)s?$/i;
const isSecretName = (name: string) => secretName.test(name) && !harmlessName.test(name);

/**
 * Secrets that are recognized by their form, in any text. The texts come from anybody, so each expression
 * must run in linear time: no two unbounded quantifiers may match at the same place of the text.
 */
const forms: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, leftOut],
  [/(?<![\w-])(?=[\w-]*eyJ[\w-]{8})[\w-]+\.eyJ[\w-]{8,}\.[\w-]+/g, leftOut],
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, leftOut],
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${leftOut}`],
  [/(\b\w+:\/\/[^\s/@:]*:)[^\s/@]+@/g, `$1${leftOut}@`],
  // A quoted text that does not end within 1000 characters is left out up to the end of its line.
  [
    /((?:passw|pass(?:[-_]?(?:phrase|code))?(?![a-z])|pwd|secret|token|(?:api|private|access|account|encryption|signing|auth)[-_]?key|credential|(?:client-)?key-data)[\w-]{0,256}\\?["']?[^\S\n]*[=:][^\S\n]*)(?!\(left out\))(?:\\?"(?:(?:[^"\\]|\\.){0,1000}"|[^\n]*)|'(?:[^']{0,1000}'|[^\n]*)|[^\s,;&"'}]+)/gi,
    `$1${leftOut}`,
  ],
];

const keyEnd = /-----END [A-Z ]*PRIVATE KEY-----/;
/** Maximum number of lines of a private key; the largest in use (RSA of 16384 bits) has 200. */
const maxKeyLines = 256;

/** Removes private keys whose first line is missing, for example because a log was cut. Linear. */
function withoutKeyEnds(text: string): string {
  if (!keyEnd.test(text)) return text;
  const kept: string[] = [];
  let left = 0;
  for (const line of text.split('\n').reverse()) {
    if (keyEnd.test(line)) {
      if (left <= 0) kept.push(leftOut);
      left = maxKeyLines;
    } else if (left-- <= 0) kept.push(line);
  }
  return kept.reverse().join('\n');
}

/** Fields with the input and output of a WorkflowRun; its `state` is a text that holds the same data. */
const data: readonly string[] = ['input', 'output'];

/** Fields with variables and headers: lists of names and values, and maps (`environment` of a SlurmJob). */
const variables: readonly string[] = ['env', 'environment', 'httpHeaders'];

/** Minimum length of a value that is removed everywhere; shorter values occur in too many words. */
const minLength = 6;

export class SecretFilter {
  readonly #known: readonly RegExp[];

  /** `values` are known secrets; they are removed in every form in which they may occur. */
  constructor(values: Iterable<string>) {
    const all = new Set([...values].flatMap(spellings).filter((text) => text.length >= minLength));
    const escaped = [...all].toSorted((a, b) => b.length - a.length).map((text) => RegExp.escape(text));
    const groups = Array.from({ length: Math.ceil(escaped.length / 200) }, (_, index) =>
      escaped.slice(index * 200, (index + 1) * 200),
    );
    this.#known = groups.map((group) => new RegExp(group.join('|'), 'g'));
  }

  text(text: string): string {
    let clean = this.withoutKnown(text);
    for (const [form, instead] of forms) clean = clean.replace(form, instead);
    return withoutKeyEnds(clean);
  }

  /** Cleans an object of the API, or a part of one. */
  object(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return this.#list(value);
    if (!isRecord(value)) return value;
    const members = Object.entries(value).map(([name, inner]) => [name, this.#member(value, name, inner)]);
    return Object.fromEntries(members);
  }

  /** Empties variables and headers, since any value may be secret. */
  #variables(value: unknown): unknown {
    if (isRecord(value)) return emptied(value);
    if (!Array.isArray(value)) return this.object(value);
    return value.map((entry) =>
      isRecord(entry) && 'value' in entry ? { ...entry, value: leftOut } : this.object(entry),
    );
  }

  #member(of: JsonObject, name: string, value: unknown): unknown {
    const isContent = of.kind === 'Secret' || of.kind === 'ConfigMap';
    if (isContent && ['data', 'stringData', 'binaryData'].includes(name)) return emptied(value);
    if (name === 'managedFields') return undefined;
    if (isAlwaysSecret(name, value)) return leftOut;
    return variables.includes(name) ? this.#variables(value) : this.object(value);
  }

  /** Cleans a list; in the words of a command line, the word after `--password` is left out. */
  #list(values: readonly unknown[]): unknown[] {
    return values.map((value, index) => {
      const before = values[index - 1];
      const isNamed = typeof before === 'string' && /^--?[\w-]+$/.test(before) && isSecretName(before);
      return isNamed && typeof value === 'string' ? leftOut : this.object(value);
    });
  }

  /**
   * Cleans a text made of cleaned objects. The forms are not applied, since they would match names of fields.
   */
  withoutKnown(text: string): string {
    let clean = text;
    for (const known of this.#known) clean = clean.replace(known, leftOut);
    return clean;
  }
}

const emptied = (value: unknown) =>
  isRecord(value) ? Object.fromEntries(Object.keys(value).map((key) => [key, leftOut])) : leftOut;

/** Returns the forms of a value: unchanged, line by line, and as encoded in JSON, in a URL and in base64. */
function spellings(value: string): string[] {
  const lines = value.split('\n').map((line) => line.trim());
  return [value.trim(), ...lines].flatMap((text) => [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text.toWellFormed()),
    Buffer.from(text).toString('base64'),
  ]);
}

/** Keys of Secrets whose values are not secret and often occur in other objects too. */
const openKeys = ['ca.crt', 'tls.crt', 'namespace', 'username', 'host', 'port', 'user'];

/** Returns the secret values of a Secret. */
export function valuesOf(secret: JsonObject): string[] {
  const data = isRecord(secret.data) ? secret.data : {};
  const only = secret.type === 'bootstrap.kubernetes.io/token' ? 'token-secret' : undefined;
  return Object.entries(data)
    .filter(([key]) => (only === undefined ? !openKeys.includes(key) : key === only))
    .map(([, value]) => Buffer.from(String(value), 'base64').toString('utf8'))
    .flatMap((text) => [text, ...leaves(text)]);
}

/** Returns the texts in a value that is JSON, such as the passwords of registries. */
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

/** Returns true for a field whose whole value is left out. */
function isAlwaysSecret(name: string, value: unknown): boolean {
  if (data.includes(name) || name.endsWith('/last-applied-configuration')) return true;
  if (typeof value === 'string') return name === 'state' || isSecretName(name);
  return typeof value === 'number' && isSecretName(name);
}
