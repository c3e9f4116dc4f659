/**
 * PKCS #10 (RFC 2986) as bytes: the content of a request, and the exact bytes of it that a certificate takes
 * over.
 */
import { addressOfBytes } from '../base/addresses.ts';
import { asciiOf, type Extensions, readExtensions, readSubject } from './certificate-names.ts';
import type { CertificateRequestContent } from './certificate-request.ts';
import {
  childrenOf,
  contextTag,
  type DerValue,
  readDer,
  readObjectIdentifier,
  requireTag,
  tags,
} from './der.ts';

export const subjectAltName = '2.5.29.17';
/** Maximum size of a subject. Real ones have about a hundred bytes. */
const maxSubjectBytes = 2048;
const extensionRequest = '1.2.840.113549.1.9.14';

export interface RequestParts {
  readonly content: CertificateRequestContent;
  readonly subject: Uint8Array;
  readonly publicKey: Uint8Array;
  /** Value of the extension; undefined when the request does not have it. */
  readonly alternativeNames: Uint8Array | undefined;
}

/**
 * Parses a request. Throws a one-line Error for bytes that are not a request, and for a request that readers
 * may interpret differently.
 */
export function readRequest(der: Uint8Array): RequestParts {
  const [signed] = childrenOf(readDer(der), tags.sequence);
  const info = requireTag(signed, tags.sequence);
  const [, subject, publicKey, attributes, ...more] = childrenOf(info, tags.sequence);
  if (more.length > 0) throw new Error('the request has extra parts');
  const name = requireTag(subject, tags.sequence);
  if (name.whole.length > maxSubjectBytes)
    throw new Error(`the subject must not be longer than ${maxSubjectBytes} bytes`);
  const alternativeNames = attributes && extensionsAsked(attributes).get(subjectAltName);
  const { commonNames, organizations } = readSubject(name);
  // Readers differ in which of several common names is the user's name.
  if (commonNames.length > 1) throw new Error('the subject must not have more than one common name');
  return {
    content: {
      commonName: commonNames[0] ?? '',
      organizations,
      ...readAlternativeNames(alternativeNames),
    },
    subject: name.whole,
    publicKey: requireTag(publicKey, tags.sequence).whole,
    alternativeNames,
  };
}

function extensionsAsked(attributes: DerValue): Extensions {
  const asked = childrenOf(attributes, contextTag(0, true)).flatMap((attribute) => {
    const [type, values] = childrenOf(attribute, tags.sequence);
    return readObjectIdentifier(type) === extensionRequest
      ? [childrenOf(requireTag(values, tags.set), tags.set)]
      : [];
  });
  const [lists = [], ...others] = asked;
  if (others.length > 0 || lists.length > 1) throw new Error('the request asks for extensions twice');
  return lists[0] ? readExtensions(lists[0]) : new Map();
}

type Kind = 'dnsNames' | 'ipAddresses' | 'emailAddresses' | 'uris';
type AlternativeNames = Pick<CertificateRequestContent, Kind>;

/** Readable types of GeneralName (RFC 5280 §4.2.1.6), by tag. */
const readable: Readonly<Record<number, Kind>> = {
  129: 'emailAddresses',
  130: 'dnsNames',
  134: 'uris',
  135: 'ipAddresses',
};
const others: Readonly<Record<number, string>> = {
  160: 'otherName',
  163: 'x400Address',
  164: 'directoryName',
  165: 'ediPartyName',
  136: 'registeredID',
};

export function readAlternativeNames(value: Uint8Array | undefined): AlternativeNames {
  const names: Record<Kind, string[]> = { dnsNames: [], ipAddresses: [], emailAddresses: [], uris: [] };
  if (!value) return names;
  for (const name of childrenOf(readDer(value), tags.sequence)) {
    const kind = readable[name.tag];
    if (!kind) throw new Error(`a subjectAltName of type ${others[name.tag] ?? name.tag} is not supported`);
    const text =
      kind === 'ipAddresses' ? addressOfBytes(name.content) : asciiOf(name.content, /^[\x21-\x7e]+$/);
    if (text === undefined) throw new Error('a subjectAltName has a value that is not of its type');
    names[kind].push(text);
  }
  return names;
}
