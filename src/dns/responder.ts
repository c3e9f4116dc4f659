/** From a client's bytes to the bytes of its answer: the cluster's names from the zone, all others from outside. */
import type { ClusterZone } from './cluster-zone.ts';
import type { Forwarder } from './forwarder.ts';
import {
  type DnsRecord,
  datagramLimit,
  type Query,
  questionAbout,
  type Reply,
  readQuery,
  streamLimit,
  writeRefusal,
  writeReply,
} from './packet.ts';
import { answerFrom, type Verdict } from './zone/answer.ts';

export interface ResponderOptions {
  readonly zone: ClusterZone;
  readonly forwarder: Forwarder;
  /** Uniform in [0, 1): which of several addresses comes first. */
  readonly random: () => number;
}

/** Resolves to nothing when there must be no answer; never rejects. */
export type Responder = (message: Buffer, transport: 'udp' | 'tcp') => Promise<Buffer | undefined>;

const failure: Reply = {
  rcode: 'SERVFAIL',
  authoritative: false,
  answers: [],
  authorities: [],
  additionals: [],
};

export function createResponder({ zone, forwarder, random }: ResponderOptions): Responder {
  async function replyTo(query: Query): Promise<Reply> {
    const verdict = answerFrom(zone, query);
    if (!verdict) return query.recursionDesired ? forwarder.resolve(query) : { ...failure, rcode: 'REFUSED' };
    // Before everything has been read once, a missing name proves nothing.
    if (!zone.complete) return failure;
    return verdict.follow === undefined ? own(verdict, random) : followed(query, verdict, verdict.follow);
  }

  async function followed(query: Query, verdict: Verdict, name: string): Promise<Reply> {
    const reply = await forwarder.resolve({ ...query, question: questionAbout(name, query.question) });
    const answers = [...verdict.answers, ...reply.answers];
    return { ...reply, answers, authoritative: false };
  }

  return async (message, transport) => {
    const reading = readQuery(message);
    if (!reading) return undefined;
    if ('refusal' in reading) return writeRefusal(reading);
    const { query } = reading;
    const limit = transport === 'tcp' ? streamLimit : datagramLimit(query);
    try {
      return writeReply(query, await replyTo(query), limit);
    } catch {
      // A record from an upstream server that cannot be encoded again.
      return writeReply(query, failure, limit);
    }
  };
}

/** Clients take the first address: it is another one each time. */
function own(verdict: Verdict, random: () => number): Reply {
  const { answers } = verdict;
  const turn = answers.length > 1 && answers.every(isAddress) ? Math.floor(random() * answers.length) : 0;
  const turned = turn === 0 ? answers : [...answers.slice(turn), ...answers.slice(0, turn)];
  return { ...verdict, answers: turned, authoritative: true };
}

const isAddress = ({ type }: DnsRecord) => type === 'A';
