/** The sources of Triggers, one for each field of the spec that names one. */
import type { Lister } from '../../../client/informer.ts';
import type { Fn } from '../../functions/api/function.ts';
import { sourceOf, type Trigger } from '../api/trigger.ts';
import { triggerAt } from '../api/trigger-path.ts';
import type { Reading, Source, SourceReport } from './source.ts';
import type { Position } from './status-plan.ts';

type SourceName = NonNullable<ReturnType<typeof sourceOf>>;

export class Sources {
  readonly #byName: Readonly<Record<SourceName, Source>>;

  constructor(byName: Readonly<Record<SourceName, Source>>) {
    this.#byName = byName;
  }

  /**
   * Collects the occurrences of the trigger's source, and returns its position and problems. Stops the
   * sources that the trigger had before. The position is undefined for a suspended trigger, which has no
   * source.
   */
  async report(
    reading: Omit<Reading, 'position'> & { readonly position: Position | undefined },
  ): Promise<SourceReport> {
    const { key, trigger, position } = reading;
    const name = sourceOf(trigger);
    for (const [other, source] of Object.entries(this.#byName))
      if (other !== name || !position) await source.stop?.(key);
    if (!position) {
      return {
        problem: { reason: 'Suspended', message: 'spec.suspend is true: no event is recorded or delivered' },
      };
    }
    return name === undefined ? { position } : await this.#byName[name].report({ ...reading, position });
  }
}

/**
 * Source of requests to a path of the gateway. The gateway records them; this class reports a path that is
 * taken.
 */
export class HttpSource implements Source {
  readonly #triggers: Lister<Trigger>;

  constructor(triggers: Lister<Trigger>) {
    this.#triggers = triggers;
  }

  /** Reports a problem for the newer of two triggers with the same path. */
  report({ trigger, position }: Reading): SourceReport {
    const { namespace, name } = trigger.metadata;
    const { http } = trigger.spec;
    const first = http && triggerAt(this.#triggers.list(namespace), http.path);
    if (!first || first.metadata.name === name) return { position };
    const message = `trigger ${JSON.stringify(first.metadata.name)} has the path ${http.path}`;
    return { position, problem: { reason: 'PathTaken', message } };
  }
}

/**
 * Source of the results of a Function's calls. The gateway records them; this class reports a missing
 * Function.
 */
export class ResultSource implements Source {
  readonly #functions: Lister<Fn>;

  constructor(functions: Lister<Fn>) {
    this.#functions = functions;
  }

  report({ trigger, position }: Reading): SourceReport {
    const of = trigger.spec.result?.function;
    if (of === undefined || this.#functions.get(`${trigger.metadata.namespace}/${of}`)) return { position };
    const message = `spec.result.function: there is no function ${JSON.stringify(of)} in the namespace`;
    return { position, problem: { reason: 'FunctionMissing', message } };
  }
}
