/** Writes the status of Triggers, no more often than needed, and records their problems as Events. */
import { deepEqual } from '../../../apimachinery/equality.ts';
import type { ObjectKey } from '../../../apimachinery/meta.ts';
import { rfc3339 } from '../../../base/time.ts';
import type { Informer } from '../../../client/informer.ts';
import type { ControllerContext } from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { ObservedWrites } from '../../../controller-runtime/observed-writes.ts';
import { type Trigger, triggerResource } from '../api/trigger.ts';
import type { Backlog } from './backlog.ts';
import type { Deliveries } from './deliveries.ts';
import type { DeliveryPlan } from './delivery-plan.ts';
import type { SourceReport } from './source.ts';
import { planStatus, type TriggerStatus, writeInterval } from './status-plan.ts';
import type { Targets } from './targets.ts';

export interface StatusWriterOptions extends Pick<ControllerContext, 'client' | 'clock' | 'events'> {
  readonly informer: Informer<Trigger>;
  readonly deliveries: Deliveries;
  readonly backlog: Backlog;
  readonly targets: Targets;
}

export class StatusWriter {
  readonly #options: StatusWriterOptions;
  readonly #ownWrites: ObservedWrites<Trigger>;
  /** Time of the last write of the status, in milliseconds of the monotonic clock. */
  readonly #writtenAt = new Map<ObjectKey, number>();

  constructor(options: StatusWriterOptions) {
    this.#options = options;
    this.#ownWrites = new ObservedWrites(options.client, triggerResource, options.informer);
  }

  /** Resolves to true if the cache shows the last status that was written. */
  settled(key: ObjectKey, now: number): Promise<boolean> {
    return this.#ownWrites.settled(key, now);
  }

  forget(key: ObjectKey): void {
    this.#writtenAt.delete(key);
  }

  /** Writes the status. Returns the milliseconds after which it must be written if it is too early now. */
  async write(
    key: ObjectKey,
    trigger: Trigger,
    plan: DeliveryPlan,
    report: SourceReport,
    now: number,
  ): Promise<number | undefined> {
    const { client, clock, deliveries } = this.#options;
    const counts = { ...deliveries.counts(key) };
    const status = planStatus(trigger, {
      ...this.#facts(key, trigger, report),
      counts,
      pending: plan.pending,
      deadLetters: plan.deadLetters,
      timestamp: rfc3339(now),
    });
    if (deepEqual(status, trigger.status)) return undefined;
    const at = clock.monotonic();
    const since = at - (this.#writtenAt.get(key) ?? Number.NEGATIVE_INFINITY);
    const every = writeInterval(trigger.status, status, report.progress?.hasReported);
    if (since < every) return every - since;
    if (report.progress) report.progress.hasReported = false;
    this.#writtenAt.set(key, at);
    const written = await ifPresent(client.resource(triggerResource).updateStatus({ ...trigger, status }));
    if (!written) return undefined;
    deliveries.written(key, counts);
    this.#ownWrites.written(key, written, now);
    this.#announce(trigger, status);
    return undefined;
  }

  #facts(key: ObjectKey, trigger: Trigger, { position, problem, waits, detail, progress }: SourceReport) {
    const { targets, backlog } = this.#options;
    return {
      position,
      problem: problem ?? targets.problemOf(trigger),
      waits: backlog.waits(key) || waits === true,
      detail,
      missed: progress?.missed,
    };
  }

  #announce(trigger: Trigger, { conditions = [] }: TriggerStatus): void {
    for (const { type, status, reason = '', message = '' } of conditions) {
      const isTrouble = (type === 'Ready') === (status === 'False') && reason !== 'Suspended';
      const before = trigger.status?.conditions?.find((one) => one.type === type);
      if (isTrouble && before?.message !== message)
        this.#options.events.event(trigger, 'Warning', reason, message);
    }
  }
}
