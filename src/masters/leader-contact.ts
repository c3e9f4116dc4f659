/** Contact of this member with a majority of the masters. */
import type { Clock } from '../base/clock.ts';
import { keepDoing } from '../base/keep-doing.ts';
import type { MembersRpc } from '../storage/etcd-members.ts';

/** Milliseconds without a leader after which the contact is lost: an election takes one to two seconds. */
const patienceMs = 3_000;
const checkMs = 500;

const lost =
  'this master has no contact with a majority of the masters, and serves again once it has; minik8s masters list on another master shows which masters answer';

/** Measures for how long this member has had no leader. */
export class LeaderContact {
  readonly #rpc: Pick<MembersRpc, 'hasLeader'>;
  readonly #clock: Clock;
  #lostSince: number | undefined;

  constructor(rpc: Pick<MembersRpc, 'hasLeader'>, clock: Clock) {
    this.#rpc = rpc;
    this.#clock = clock;
  }

  /** Returns one line if the contact has been lost for longer than an election takes. */
  get problem(): string | undefined {
    const since = this.#lostSince;
    return since !== undefined && this.#clock.monotonic() - since > patienceMs ? lost : undefined;
  }

  /** Checks the contact until the signal aborts. An etcd that does not answer is not reported here. */
  async run(signal: AbortSignal): Promise<void> {
    const clock = this.#clock;
    const onError = () => {
      this.#lostSince = undefined;
    };
    await keepDoing({ clock, signal, restMs: checkMs, onError }, async () => {
      const hasLeader = await this.#rpc.hasLeader();
      this.#lostSince = hasLeader ? undefined : (this.#lostSince ?? clock.monotonic());
    });
  }
}
