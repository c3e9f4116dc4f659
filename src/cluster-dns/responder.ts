/** Answers a client's message: the cluster's names from the zone, all others through the forwarder. */
import type { Clock } from '../base/clock.ts';
import type { ClusterZone } from './cluster-zone.ts';
import type { DnsCounts, DnsProtocol } from './dns-counts.ts';
import type { Forwarder } from './forwarder.ts';
import {
  type DnsRecord,
  datagramLimit,
  type Query,
  questionAbout,
  type Rcode,
  type Reply,
  readQuery,
  streamLimit,
  writeRefusal,
  writeReply,
} from './packet.ts';
import { answerFrom, type Verdict } from './zone/answer.ts';

export interface ResponderOptions {
  readonly zone: ClusterZone;
  readonly forwarder: Pick<Forwarder, 'resolve'>;
  /** Uniform in [0, 1): determines which of several addresses comes first. */
  readonly random: () => number;
  readonly clock: Clock;
  readonly counts: DnsCounts;
}

/**
 * Answers a message. `address` is the server's address that received it. Resolves with undefined when there
 * must be no answer; never rejects.
 */
export type Responder = (
  message: Buffer,
  protocol: DnsProtocol,
  address: string,
) => Promise<Buffer | undefined>;

const failure: Reply = {
  rcode: 'SERVFAIL',
  authoritative: false,
  answers: [],
  authorities: [],
  additionals: [],
};

export function createResponder(options: ResponderOptions): Responder {
  const { zone, forwarder, random, clock, counts } = options;

  async function replyTo(query: Query): Promise<Reply> {
    const verdict = answerFrom(zone, query);
    if (!verdict) return query.recursionDesired ? forwarder.resolve(query) : { ...failure, rcode: 'REFUSED' };
    // Until everything has been read once, a name that is missing here may exist.
    if (!zone.complete) return failure;
    return verdict.follow === undefined ? own(verdict, random) : followed(query, verdict, verdict.follow);
  }

  async function followed(query: Query, verdict: Verdict, name: string): Promise<Reply> {
    const reply = await forwarder.resolve({ ...query, question: questionAbout(name, query.question) });
    const answers = [...verdict.answers, ...reply.answers];
    return { ...reply, answers, authoritative: false };
  }

  async function answerTo(query: Query, protocol: DnsProtocol): Promise<{ rcode: Rcode; bytes: Buffer }> {
    const limit = protocol === 'tcp' ? streamLimit : datagramLimit(query);
    try {
      const reply = await replyTo(query);
      return { rcode: reply.rcode, bytes: writeReply(query, reply, limit) };
    } catch {
      // A record of an upstream server cannot be encoded again.
      return { rcode: failure.rcode, bytes: writeReply(query, failure, limit) };
    }
  }

  return async (message, protocol, address) => {
    const since = clock.monotonic();
    const reading = readQuery(message);
    if (!reading) return undefined;
    const { rcode, bytes } =
      'refusal' in reading
        ? { rcode: reading.refusal, bytes: writeRefusal(reading) }
        : await answerTo(reading.query, protocol);
    const { type, edns } = reading.query ?? {};
    counts.answered({
      ...{ address, protocol, type, dnssec: edns?.dnssec ?? false, rcode, since },
      ...{ askedBytes: message.length, answeredBytes: bytes.length },
    });
    return bytes;
  };
}

/** Returns the reply with the addresses rotated randomly, because clients take the first one. */
function own(verdict: Verdict, random: () => number): Reply {
  const { answers } = verdict;
  const turn = answers.length > 1 && answers.every(isAddress) ? Math.floor(random() * answers.length) : 0;
  const turned = turn === 0 ? answers : [...answers.slice(turn), ...answers.slice(0, turn)];
  return { ...verdict, answers: turned, authoritative: true };
}

const isAddress = ({ type }: DnsRecord) => type === 'A' || type === 'AAAA';
