/** Source of the due times of a Trigger's schedule. */
import { rfc3339 } from '../../../base/time.ts';
import type { ControllerContext } from '../../../controller-runtime/definition.ts';
import type { Backlog } from './backlog.ts';
import { planCron, scheduledHappening } from './cron-plan.ts';
import type { EventStore } from './event-store.ts';
import type { Reading, Source, SourceReport } from './source.ts';

export class CronSource implements Source {
  readonly #events: ControllerContext['events'];
  readonly #backlog: Backlog;
  readonly #store: EventStore;

  constructor(events: ControllerContext['events'], backlog: Backlog, store: EventStore) {
    this.#events = events;
    this.#backlog = backlog;
    this.#store = store;
  }

  /** Stores the last due time, and returns the milliseconds until the next one. */
  async report({ key, trigger, position, now }: Reading): Promise<SourceReport> {
    const { cron } = trigger.spec;
    if (!cron) return { position };
    const { due, missed, again } = planCron(cron, position, now);
    if (missed !== undefined) {
      const message = `the deadline has passed for ${rfc3339(missed)}`;
      this.#events.event(trigger, 'Warning', 'MissSchedule', message);
    }
    const last = due ?? missed;
    if (last === undefined && again === undefined) {
      const message = `spec.cron.schedule: ${JSON.stringify(cron.schedule)} is never due`;
      return { position, problem: { reason: 'NeverDue', message } };
    }
    if (due !== undefined) {
      // The end of a delivery enqueues the trigger again.
      if (this.#backlog.isFull(key)) return { position };
      await this.#store.store(trigger, scheduledHappening(trigger, due));
    }
    return {
      position: last === undefined ? position : { ...position, lastScheduleTime: rfc3339(last) },
      again,
    };
  }
}
