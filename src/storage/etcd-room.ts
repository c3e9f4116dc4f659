/**
 * Keeps room in etcd. etcd has no notification of its size, so each member is polled for the size of its
 * database, and bytes sent in between are counted. Before the quota is reached, the API server rejects writes
 * that can wait (room-plan.ts), history is compacted early, members are defragmented one after the other, and
 * the alarm NOSPACE is disarmed once there is room again.
 */
import type { Clock } from '../base/clock.ts';
import { type Failure, keepDoing, Wake } from '../base/keep-doing.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import { type EtcdRpc, type MemberStatus, RpcError } from './etcd-rpc.ts';
import { RevisionAges } from './revision-ages.ts';
import {
  historyToForget,
  isToDefragment,
  isToDisarm,
  levelOf,
  type MemberUsage,
  type RoomLevel,
  worstLevel,
} from './room-plan.ts';
import { SentBytes } from './sent-bytes.ts';

export interface EtcdRoomOptions {
  readonly rpc: EtcdRpc;
  readonly clock: Clock;
  readonly log: Logger;
  readonly attemptMs: number;
}

/**
 * Timeout in milliseconds of a defragmentation: the member rewrites its whole database and answers nothing
 * else meanwhile.
 */
const defragmentMs = 120_000;
const looksEveryMs = 10_000;
/** Interval if little room is left. */
const looksOftenMs = 2000;
/**
 * Age of the history that is kept when history is compacted early: clients whose watches break continue
 * within it.
 */
const shortHistoryMs = 30_000;
/** Maximum delay of the sizes that etcd reports: it commits to its file in batches. */
const settlesMs = 2000;
/** Minimum time between two defragmentations of a member. */
const restMs = 20_000;

export class EtcdRoom {
  readonly #options: EtcdRoomOptions;
  readonly #log: Logger;
  /** Usage by member, in the order of `rpc.members`. */
  #usage: MemberUsage[] = [];
  /** Size at which members of unknown quota raised the alarm. */
  #learned: number | undefined;
  readonly #defragmented = new Map<number, number>();
  readonly #revisions = new RevisionAges(shortHistoryMs);
  readonly #sent = new SentBytes();
  #level: RoomLevel = 'free';
  readonly #wake = new Wake();

  constructor(options: EtcdRoomOptions) {
    this.#options = options;
    this.#log = options.log.named('etcd-room');
  }

  level(): RoomLevel {
    return worstLevel(this.#usage.map((usage) => levelOf(usage, this.#sent.sum)));
  }

  /** Returns the size in bytes of the largest member's database; 0 before the first poll. */
  size(): number {
    return Math.max(0, ...this.#usage.map(({ size }) => size));
  }

  /** Returns the smallest quota of all members in bytes. */
  quota(): number | undefined {
    const quotas = this.#usage.flatMap(({ quota }) => quota ?? []);
    return quotas.length > 0 ? Math.min(...quotas) : undefined;
  }

  /** Runs a write, and counts its value as sent to etcd. */
  during<T>(bytes: number, write: () => Promise<T>): Promise<T> {
    this.#sent.add(bytes, this.#options.clock.monotonic());
    // The last measurement is out of date.
    if (this.level() !== this.#level) this.#wake.call();
    return write();
  }

  /** Measures and makes room until the signal aborts. */
  async keep(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const restMs = () => {
      const often =
        this.level() !== 'free' || this.#usage.some((usage) => historyToForget(usage) !== 'nothing');
      return often ? looksOftenMs : looksEveryMs;
    };
    const onError = (error: unknown, { isNew }: Failure) => {
      if (isNew) this.#log.warn('room in etcd cannot be kept, trying again', { error: errorMessage(error) });
    };
    await keepDoing({ clock, signal, wake: this.#wake, restMs, onError }, () => this.look());
  }

  /** Measures each member, and makes room if there is little. */
  async look(): Promise<void> {
    await this.#measure();
    await this.#forgetHistory();
    for (const [index, usage] of this.#usage.entries())
      if (isToDefragment(usage)) await this.#defragment(index);
    if (this.#usage.some(({ isFull }) => isFull)) await this.#measure();
    if (this.#usage.some(isToDisarm) && this.#usage.every((usage) => !usage.isFull || isToDisarm(usage))) {
      const { rpc, attemptMs } = this.#options;
      await rpc.disarmFull(attemptMs);
      this.#log.info('etcd has room again, the alarm NOSPACE is disarmed');
      await this.#measure();
    }
    this.#notify();
  }

  async #measure(): Promise<void> {
    const { rpc, attemptMs, clock } = this.#options;
    const since = clock.monotonic() - settlesMs;
    // A member that does not answer keeps its last measurement.
    const asked = await Promise.allSettled(rpc.members.map((member) => member.status(attemptMs)));
    for (const answer of asked)
      if (answer.status === 'fulfilled' && answer.value.isFull && answer.value.quota === undefined)
        this.#learned = Math.max(answer.value.size, this.#learned ?? 0);
    for (const [index, answer] of asked.entries()) {
      if (answer.status === 'fulfilled') this.#usage[index] = this.#usageOf(answer.value);
      else this.#usage[index] ??= { size: 0, inUse: 0, quota: undefined, isFull: false };
    }
    this.#sent.forgetBefore(since);
    const answers = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const [first] = answers;
    if (!first) throw (asked[0] as PromiseRejectedResult).reason;
    this.#revisions.add({
      at: clock.monotonic(),
      revision: Math.max(...answers.map(({ revision }) => revision)),
    });
  }

  #usageOf({ size, inUse, quota, isFull }: MemberStatus): MemberUsage {
    return { size, inUse, isFull, quota: quota ?? this.#learned };
  }

  async #forgetHistory(): Promise<void> {
    const { rpc, attemptMs, clock } = this.#options;
    const forget = this.#usage.map(historyToForget);
    const old = this.#revisions.old(clock.monotonic());
    const target = forget.includes('all') ? this.#revisions.newest : forget.includes('old') ? old : undefined;
    if (!target) return;
    try {
      await rpc.compact(target, attemptMs, true);
    } catch (error) {
      if (!(error instanceof RpcError) || error.failure !== 'compacted') throw error;
    }
    await this.#measure();
  }

  async #defragment(index: number): Promise<void> {
    const { rpc, clock } = this.#options;
    const now = clock.monotonic();
    const last = this.#defragmented.get(index);
    if (last !== undefined && now - last < restMs) return;
    this.#defragmented.set(index, now);
    this.#log.info('defragmenting etcd, whose file is mostly free pages or near its quota', {
      ...this.#usage[index],
    });
    await rpc.members[index]?.defragment(defragmentMs);
    await this.#measure();
  }

  #notify(): void {
    const level = this.level();
    if (level === this.#level) return;
    this.#level = level;
    if (level === 'free') this.#log.info('etcd has room again: everything is written');
    else
      this.#log.error(
        'etcd has little room left: objects are neither created nor made larger until some are deleted',
        {
          level,
          members: this.#usage,
        },
      );
  }
}
