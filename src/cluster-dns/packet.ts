/** Encodes and decodes DNS messages with dns-packet; no other file depends on the wire format. */
import {
  type Answer,
  AUTHORITATIVE_ANSWER,
  CHECKING_DISABLED,
  type DecodedPacket,
  DNSSEC_OK,
  decode,
  encode,
  type OptAnswer,
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
  TRUNCATED_RESPONSE,
} from 'dns-packet';

export type DnsRecord = Exclude<Answer, OptAnswer>;

export type Rcode = keyof typeof rcodes;

const rcodes = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  BADVERS: 16,
} as const;

export interface Query {
  readonly id: number;
  /** Name with the case in which it was sent: clients that check the case accept the answer. */
  readonly name: string;
  /** Type such as `A`, or `UNKNOWN_260`. */
  readonly type: string;
  /** Name, type and class as they were received. */
  readonly question: Buffer;
  readonly recursionDesired: boolean;
  readonly checkingDisabled: boolean;
  /** Undefined when the client does not support EDNS0 (RFC 6891). */
  readonly edns: { readonly payload: number; readonly dnssec: boolean } | undefined;
}

export interface Reply {
  readonly rcode: Rcode;
  readonly authoritative: boolean;
  readonly answers: readonly DnsRecord[];
  readonly authorities: readonly DnsRecord[];
  /** Records that are left out when there is no room. */
  readonly additionals: readonly DnsRecord[];
}

/**
 * A query to answer; a refusal that follows from the first bytes alone; or undefined for a message that must
 * not be answered.
 */
export type Reading =
  | { readonly query: Query }
  | { readonly refusal: Rcode; readonly id: number; readonly query?: Query }
  | undefined;

const headerLength = 12;
/** Size of a datagram to a client without EDNS0 (RFC 1035), and the size that is never fragmented. */
const plainPayload = 512;
const maxPayload = 1232;
const maxMessageLength = 65_535;
const optLength = 11;
/** Pointer to the question's name, for records with the same name. */
const questionPointer = Buffer.from([0xc0, headerLength]);

const emptyReply = (rcode: Rcode): Reply => ({
  rcode,
  authoritative: false,
  answers: [],
  authorities: [],
  additionals: [],
});

/**
 * Parses a query; never throws. Responses, and messages too short for an id, get no reply: otherwise two
 * servers could answer each other for ever.
 */
export function readQuery(message: Buffer): Reading {
  if (message.length < headerLength || (message.readUInt8(2) & 0x80) !== 0) return undefined;
  const id = message.readUInt16BE(0);
  if ((message.readUInt8(2) & 0x78) !== 0) return { refusal: 'NOTIMP', id };
  const counts = [4, 6, 8].map((offset) => message.readUInt16BE(offset));
  if (counts.join() !== '1,0,0') return { refusal: 'FORMERR', id };
  try {
    return readQuestion(message, id);
  } catch {
    return { refusal: 'FORMERR', id };
  }
}

/** Parses a query with one question; throws for a message that cannot be decoded. */
function readQuestion(message: Buffer, id: number): Reading {
  const question = firstQuestion(message);
  const packet = decodeWhole(message);
  const [asked] = packet.questions ?? [];
  const opts = (packet.additionals ?? []).filter((record) => record.type === 'OPT');
  if (!question || !asked || opts.length > 1) return { refusal: 'FORMERR', id };
  const [opt] = opts;
  const query: Query = {
    id,
    name: asked.name === '.' ? '' : asked.name,
    type: asked.type,
    question,
    recursionDesired: packet.flag_rd,
    checkingDisabled: packet.flag_cd,
    edns: opt && { payload: opt.udpPayloadSize, dnssec: opt.flag_do },
  };
  if (opt && opt.ednsVersion !== 0) return { refusal: 'BADVERS', id, query };
  return asked.class === 'IN' ? { query } : { refusal: 'REFUSED', id, query };
}

/**
 * Decodes a whole message. The library reads past the end of a message whose last record is cut off, so that
 * is checked.
 */
function decodeWhole(message: Buffer): DecodedPacket {
  const packet = decode(message);
  if (decode.bytes > message.length) throw new RangeError('a record is cut off');
  return packet;
}

/** Returns the bytes of the question; undefined when its name is compressed or cut off. */
function firstQuestion(message: Buffer): Buffer | undefined {
  let offset = headerLength;
  for (let length = message[offset]; length !== 0; length = message[offset]) {
    if (length === undefined || length > 63) return undefined;
    offset += length + 1;
  }
  const end = offset + 5;
  return end <= message.length ? Buffer.from(message.subarray(headerLength, end)) : undefined;
}

/** Returns the maximum bytes of a datagram to the client. */
export const datagramLimit = ({ edns }: Query) =>
  edns ? Math.min(Math.max(edns.payload, plainPayload), maxPayload) : plainPayload;

export const streamLimit = maxMessageLength;

/**
 * Encodes a reply in at most `limit` bytes: records that do not fit are left out, and the truncation flag
 * makes the client retry over TCP.
 */
export function writeReply(query: Query, reply: Reply, limit: number): Buffer {
  const room = limit - headerLength - query.question.length - (query.edns ? optLength : 0);
  const { parts, counts, truncated } = recordsWithin(room, query, reply);
  const code = rcodes[reply.rcode];
  const flags = flagsOf(query, reply, truncated) | (code & 15);
  const header = encode({ type: 'response', id: query.id, flags });
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(counts.answers, 6);
  header.writeUInt16BE(counts.authorities, 8);
  header.writeUInt16BE(counts.additionals + (query.edns ? 1 : 0), 10);
  const end = query.edns ? [optBytes(code >> 4, query.edns.dnssec)] : [];
  return Buffer.concat([header, query.question, ...parts, ...end]);
}

/**
 * Encodes the records that fit in `room` bytes. The reply is truncated if an answer or an authority is left
 * out; additional records may be missing.
 */
function recordsWithin(room: number, query: Query, reply: Reply) {
  const parts: Buffer[] = [];
  const counts = { answers: 0, authorities: 0, additionals: 0 };
  let left = room;
  for (const section of ['answers', 'authorities', 'additionals'] as const) {
    for (const record of reply[section]) {
      const bytes = recordBytes(record, query);
      if (bytes.length > left) return { parts, counts, truncated: section !== 'additionals' };
      left -= bytes.length;
      parts.push(bytes);
      counts[section]++;
    }
  }
  return { parts, counts, truncated: false };
}

/** Returns the flags of a reply, without its code. */
const flagsOf = (query: Query, reply: Reply, truncated: boolean): number =>
  RECURSION_AVAILABLE |
  (reply.authoritative ? AUTHORITATIVE_ANSWER : 0) |
  (query.recursionDesired ? RECURSION_DESIRED : 0) |
  (query.checkingDisabled ? CHECKING_DISABLED : 0) |
  (truncated ? TRUNCATED_RESPONSE : 0);

/** Encodes a refusal, also for a message whose question could not be parsed. */
export function writeRefusal({ id, refusal, query }: Extract<Reading, { refusal: Rcode }>): Buffer {
  if (query) return writeReply(query, emptyReply(refusal), plainPayload);
  return encode({ type: 'response', id, flags: RECURSION_AVAILABLE | rcodes[refusal] });
}

function recordBytes(record: DnsRecord, query: Query): Buffer {
  if (record.name !== query.name) return encode({ answers: [record] }).subarray(headerLength);
  const rootLength = 1;
  const rest = encode({ answers: [{ ...record, name: '.' }] }).subarray(headerLength + rootLength);
  return Buffer.concat([questionPointer, rest]);
}

function optBytes(extendedRcode: number, dnssec: boolean): Buffer {
  const opt: OptAnswer = {
    type: 'OPT',
    name: '.',
    udpPayloadSize: maxPayload,
    extendedRcode,
    ednsVersion: 0,
    flags: dnssec ? DNSSEC_OK : 0,
    flag_do: dnssec,
    options: [],
  };
  return encode({ additionals: [opt] }).subarray(headerLength);
}

/** Encodes the query for an upstream server: the client's question with a new id. */
export function writeQuestion(
  id: number,
  query: Pick<Query, 'question' | 'checkingDisabled' | 'edns'>,
): Buffer {
  const flags = RECURSION_DESIRED | (query.checkingDisabled ? CHECKING_DISABLED : 0);
  const header = encode({ type: 'query', id, flags });
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(1, 10);
  return Buffer.concat([header, query.question, optBytes(0, query.edns?.dnssec ?? false)]);
}

/** Returns the same question for another name. */
export function questionAbout(name: string, question: Buffer): Buffer {
  const typeAndClass = 4;
  const encoded = encode({ questions: [{ name, type: 'A' }] }).subarray(headerLength, -typeAndClass);
  return Buffer.concat([encoded, question.subarray(-typeAndClass)]);
}

export interface UpstreamReply extends Reply {
  readonly truncated: boolean;
}

/** Parses a reply; undefined when it is no answer to that question under that id, or is invalid. */
export function readReply(message: Buffer, id: number, question: Buffer): UpstreamReply | undefined {
  if (message.length < headerLength || message.readUInt16BE(0) !== id) return undefined;
  try {
    const asked = message.readUInt16BE(4) === 1 ? firstQuestion(message) : undefined;
    if (!asked || !sameQuestion(asked, question)) return undefined;
    const packet = decodeWhole(message);
    if (!packet.flag_qr) return undefined;
    const opt = packet.additionals?.find((record) => record.type === 'OPT');
    const code = (message.readUInt8(3) & 15) | ((opt?.extendedRcode ?? 0) << 4);
    const rcode = (Object.keys(rcodes) as Rcode[]).find((name) => rcodes[name] === code) ?? 'SERVFAIL';
    return {
      rcode,
      authoritative: false,
      truncated: packet.flag_tc,
      answers: plain(packet.answers),
      authorities: plain(packet.authorities),
      additionals: [],
    };
  } catch {
    return undefined;
  }
}

const plain = (records: readonly Answer[] = []) =>
  records.filter((record): record is DnsRecord => record.type !== 'OPT');

/** Compares questions without case: servers may change the case of names. */
const sameQuestion = (a: Buffer, b: Buffer) =>
  a.length === b.length && a.toString('latin1').toLowerCase() === b.toString('latin1').toLowerCase();

/** Returns the approximate size of a record in memory: its size on the wire. */
export const recordSize = (record: DnsRecord) => encode({ answers: [record] }).length;
