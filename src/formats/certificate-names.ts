/**
 * Names in a certificate or a request, parsed from its bytes. The API server reads users and groups of client
 * certificates with it, and the authority reads the requests that it signs: with a single parser they cannot
 * disagree about a name. (RFC 5280 §4.1.2.4; the string types are those of X.520 DirectoryString, and
 * IA5String for mail addresses.)
 */
import {
  childrenOf,
  contextTag,
  type DerValue,
  readDer,
  readObjectIdentifier,
  requireTag,
  tags,
} from './der.ts';

export interface SubjectNames {
  /** Common names in the order of the encoding. */
  readonly commonNames: readonly string[];
  readonly organizations: readonly string[];
}

const commonName = '2.5.4.3';
const organization = '2.5.4.10';

/**
 * Returns the names of a subject. Throws a one-line Error for a name that another parser could read
 * differently.
 */
export function readSubject(name: DerValue): SubjectNames {
  const attributes = childrenOf(name, tags.sequence).flatMap((relative) => {
    const all = childrenOf(relative, tags.set);
    if (all.length === 0) throw new Error('the subject has a part without attributes');
    return all.map(readAttribute);
  });
  const of = (type: string) => attributes.flatMap(([found, value]) => (found === type ? [value] : []));
  return { commonNames: of(commonName), organizations: of(organization) };
}

function readAttribute(attribute: DerValue): readonly [type: string, value: string] {
  const [type, value, ...more] = childrenOf(attribute, tags.sequence);
  if (!value || more.length > 0)
    throw new Error('the subject has an attribute that is not a type and a value');
  const text = readString(value);
  if (text === '') throw new Error('the subject has an empty value');
  return [readObjectIdentifier(type), text];
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * String decoders by tag. Types with one octet per character are read only as ASCII: parsers differ about the
 * other octets.
 */
const stringTypes: Readonly<Record<number, (content: Uint8Array) => string | undefined>> = {
  12: readUtf8,
  18: (content) => asciiOf(content, /^[0-9 ]*$/),
  19: (content) => asciiOf(content, /^[A-Za-z0-9 '()+,\-./:=?*&@]*$/),
  20: (content) => asciiOf(content),
  22: (content) => asciiOf(content),
  28: (content) => readCodePoints(content, 4),
  30: (content) => readCodePoints(content, 2),
};

function readString({ tag, content }: DerValue): string {
  const read = Object.hasOwn(stringTypes, tag) ? stringTypes[tag] : undefined;
  if (!read)
    throw new Error(`the subject has a value of a type that is not supported (0x${tag.toString(16)})`);
  const text = read(content);
  if (text === undefined) throw new Error('the subject has a value that is not of its type');
  if (/\p{Cc}/u.test(text)) throw new Error('the subject has a control character');
  return text;
}

function readUtf8(content: Uint8Array): string | undefined {
  try {
    return utf8.decode(content);
  } catch {
    return undefined;
  }
}

/** Returns the text; undefined if it has anything but printable ASCII that the pattern allows. */
export function asciiOf(content: Uint8Array, pattern = /^[\x20-\x7e]*$/): string | undefined {
  const text = Array.from(content, (octet) => String.fromCharCode(octet)).join('');
  return pattern.test(text) ? text : undefined;
}

function readCodePoints(content: Uint8Array, width: 2 | 4): string | undefined {
  if (content.length % width !== 0) return undefined;
  const view = new DataView(content.buffer, content.byteOffset, content.length);
  let text = '';
  for (let at = 0; at < content.length; at += width) {
    const point = width === 2 ? view.getUint16(at) : view.getUint32(at);
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return undefined;
    text += String.fromCodePoint(point);
  }
  return text;
}

export interface CertificateParts {
  readonly subject: DerValue;
  readonly publicKey: DerValue;
  readonly extensions: Extensions;
}

/** Content of the octet string by object identifier. */
export type Extensions = ReadonlyMap<string, Uint8Array>;

/** Returns the parts of a certificate that identify its holder. Throws a one-line Error. */
export function readCertificate(der: Uint8Array): CertificateParts {
  const [signed] = childrenOf(readDer(der), tags.sequence);
  const fields = childrenOf(requireTag(signed, tags.sequence), tags.sequence);
  // A certificate of version 1 may omit the version.
  const numbered = fields[0]?.tag === contextTag(0, true) ? fields.slice(1) : fields;
  const [, , , , subject, publicKey, ...more] = numbered;
  const extensions = more.find(({ tag }) => tag === contextTag(3, true));
  return {
    subject: requireTag(subject, tags.sequence),
    publicKey: requireTag(publicKey, tags.sequence),
    extensions: extensions ? readExtensions(readDer(extensions.content)) : new Map(),
  };
}

/** The user that a client certificate identifies. */
export interface Holder {
  /** Kubernetes' user name: the last one of several common names, as Go reads them. */
  readonly commonName: string;
  /** The user's groups. */
  readonly organizations: readonly string[];
}

/** Returns undefined when there is no certificate, or its subject is ambiguous. */
export function holderOf(der: Uint8Array | undefined): Holder | undefined {
  if (!der) return undefined;
  try {
    const { commonNames, organizations } = readSubject(readCertificate(der).subject);
    const commonName = commonNames.at(-1);
    return commonName === undefined ? undefined : { commonName, organizations };
  } catch {
    // A malformed name identifies no user.
    return undefined;
  }
}

/**
 * Returns the extensions. Throws an Error for a duplicate extension: some parsers take the first and others
 * the last.
 */
export function readExtensions(list: DerValue): Extensions {
  const extensions = new Map<string, Uint8Array>();
  for (const extension of childrenOf(list, tags.sequence)) {
    const [type, ...rest] = childrenOf(extension, tags.sequence);
    const value = rest[0]?.tag === tags.boolean ? rest[1] : rest[0];
    const id = readObjectIdentifier(type);
    if (extensions.has(id)) throw new Error(`the extension ${id} is given twice`);
    extensions.set(id, requireTag(value, tags.octetString).content);
  }
  return extensions;
}
