/** The members of an etcd: the calls of its Cluster service, over the unix socket of one of them. */
import { WireReader } from '../apimachinery/protobuf/reader.ts';
import type { WireWriter } from '../apimachinery/protobuf/writer.ts';
import type { Clock } from '../base/clock.ts';
import { GrpcClient } from '../grpc/client.ts';
import { framed } from '../grpc/frames.ts';

export interface EtcdMember {
  /** Number as etcd writes it, in hexadecimal digits. */
  readonly id: string;
  /** Empty for a member that has not started yet. */
  readonly name: string;
  readonly peerUrl: string;
  /** True for a member that does not vote yet, because it has not caught up. */
  readonly isLearner: boolean;
}

export interface EtcdMembership {
  readonly clusterId: string;
  /** Member that answered. */
  readonly ownId: string;
  readonly members: readonly EtcdMember[];
}

/** Every call rejects with GrpcError. */
export interface MembersRpc {
  /** Returns the members that a majority has agreed on; those known to this member if `isLocal`. */
  list(isLocal?: boolean): Promise<EtcdMembership>;
  /** Adds a learner, and returns the members with it. */
  addLearner(peerUrl: string): Promise<EtcdMembership>;
  /** Makes a learner vote. Rejects while it has not caught up. */
  promote(id: string): Promise<EtcdMembership>;
  update(id: string, peerUrl: string): Promise<EtcdMembership>;
  remove(id: string): Promise<EtcdMembership>;
  /** Resolves to whether this member is in contact with a leader, and so with a majority. */
  hasLeader(): Promise<boolean>;
  close(): void;
}

const callMs = 10_000;
const shortMessage = 1024;

/** Returns the calls to the etcd at a unix socket. Nothing is sent before the first call. */
export function openMembers(socket: string, clock: Clock): MembersRpc {
  const client = new GrpcClient({
    endpoint: `unix:${socket}`,
    ...{ tls: {}, keepaliveMs: 2000, connectMs: 5000, clock, maxMessageBytes: 1 << 20 },
  });
  const call = async (method: string, write: (writer: WireWriter) => void): Promise<EtcdMembership> =>
    readMembership(
      await client.call(`/etcdserverpb.Cluster/Member${method}`, framed(shortMessage, write), callMs),
    );
  return {
    list: (isLocal = false) => call('List', (writer) => void (isLocal || writer.varint(1, 1))),
    addLearner: (peerUrl) =>
      call('Add', (writer) => {
        writer.string(1, peerUrl);
        writer.varint(2, 1);
      }),
    promote: (id) => call('Promote', (writer) => writer.varint(1, numberOf(id))),
    update: (id, peerUrl) =>
      call('Update', (writer) => {
        writer.varint(1, numberOf(id));
        writer.string(2, peerUrl);
      }),
    remove: (id) => call('Remove', (writer) => writer.varint(1, numberOf(id))),
    hasLeader: async () =>
      readHasLeader(
        await client.call(
          '/etcdserverpb.Maintenance/Status',
          framed(shortMessage, () => undefined),
          callMs,
        ),
      ),
    close: () => client.close(),
  };
}

const numberOf = (id: string) => BigInt(`0x${id}`);

/** Decodes an answer: the header, and the list of members, which is field 3 after an addition. */
export function readMembership(message: Buffer): EtcdMembership {
  const reader = new WireReader(message);
  const parts: { field: number; member: EtcdMember }[] = [];
  let header = { clusterId: '0', ownId: '0' };
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 1) header = headerOf(reader.within(wire));
    else if (field === 2 || field === 3) parts.push({ field, member: memberOf(reader.within(wire)) });
    else reader.skip(wire);
  }
  const last = parts.some(({ field }) => field === 3) ? 3 : 2;
  return { ...header, members: parts.flatMap(({ field, member }) => (field === last ? [member] : [])) };
}

/** Decodes a status: field 4 is the leader's id, which is absent without one. */
export function readHasLeader(message: Buffer): boolean {
  const reader = new WireReader(message);
  let leader = 0n;
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 4) leader = reader.uint64(wire);
    else reader.skip(wire);
  }
  return leader !== 0n;
}

function headerOf(reader: WireReader) {
  const header = { clusterId: '0', ownId: '0' };
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 1) header.clusterId = reader.uint64(wire).toString(16);
    else if (field === 2) header.ownId = reader.uint64(wire).toString(16);
    else reader.skip(wire);
  }
  return header;
}

function memberOf(reader: WireReader): EtcdMember {
  const member = { id: '0', name: '', peerUrl: '', isLearner: false };
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 1) member.id = reader.uint64(wire).toString(16);
    else if (field === 2) member.name = reader.string(wire);
    else if (field === 3) member.peerUrl = reader.string(wire);
    else if (field === 5) member.isLearner = reader.bool(wire);
    else reader.skip(wire);
  }
  return member;
}
