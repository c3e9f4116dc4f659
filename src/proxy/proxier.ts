/**
 * Keeps the kernel's service rules in step with Services and EndpointSlices. Informer events only mark services
 * as changed; a round reads what each is now, and applies all differences in one transaction while new marks
 * gather for the next. The kernel is never listed: after a failed transaction the whole table is written again.
 */
import { serviceResource } from '../api/core/v1/service.ts';
import {
  type EndpointSlice,
  endpointSliceResource,
  serviceNameLabel,
} from '../api/discovery/v1/endpoint-slice.ts';
import { type ObjectKey, objectKey } from '../apimachinery/meta.ts';
import { aborted } from '../base/abort.ts';
import { Backoff } from '../base/backoff.ts';
import { type Clock, sleep } from '../base/clock.ts';
import { type Exec, ExecError } from '../base/exec.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { InformerFactory } from '../client/informer.ts';
import { ElementTable } from './element-table.ts';
import { elementsOf } from './elements.ts';
import { chainsOf, renderDifference, renderTable, table } from './render.ts';
import { serviceRules } from './service-map.ts';
import { staleFlows } from './stale-flows.ts';

export interface ProxierOptions {
  /** Not started yet: the proxier asks for the informers it reads. */
  readonly informers: InformerFactory;
  readonly exec: Exec;
  readonly nodeName: string;
  /** Traffic to an address in it that belongs to no service is refused at once. */
  readonly serviceCIDR: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Proxier {
  /** Runs until the signal aborts; start it when the informers have synced. Leaves the rules in the kernel. */
  run(signal: AbortSignal): Promise<void>;
}

const bySlice = 'service';
const retry = { initialMs: 100, maxMs: 30_000 };

/** The key of the service a slice belongs to. */
function serviceKeyOf(slice: EndpointSlice): ObjectKey | undefined {
  const name = slice.metadata.labels?.[serviceNameLabel];
  return name && `${slice.metadata.namespace}/${name}`;
}

export function createProxier(options: ProxierOptions): Proxier {
  const { informers, exec, clock, log } = options;
  const services = informers.informerFor(serviceResource);
  const slices = informers.informerFor(endpointSliceResource);
  slices.addIndex(bySlice, (slice) => [serviceKeyOf(slice) ?? '']);

  const elements = new ElementTable();
  const changed = new Set<ObjectKey>();
  let wake = () => {};
  const mark = (key: ObjectKey | undefined) => {
    if (!key) return;
    changed.add(key);
    wake();
  };
  services.addEventHandler({
    onAdd: (service) => mark(objectKey(service)),
    onUpdate: (service) => mark(objectKey(service)),
    onDelete: (service) => mark(objectKey(service)),
  });
  slices.addEventHandler({
    onAdd: (slice) => mark(serviceKeyOf(slice)),
    onUpdate: (slice, old) => {
      mark(serviceKeyOf(slice));
      mark(serviceKeyOf(old));
    },
    onDelete: (slice) => mark(serviceKeyOf(slice)),
  });

  /** The chains in the kernel; undefined when the table must be written whole. */
  let chains: Set<string> | undefined;

  function readChanged(): void {
    for (const key of changed) {
      const service = services.lister.get(key);
      const rules = service
        ? serviceRules(service, slices.lister.byIndex(bySlice, key), options.nodeName)
        : [];
      elements.replace(key, elementsOf(rules));
    }
    changed.clear();
  }

  async function apply(): Promise<void> {
    const difference = elements.difference();
    const all = chains ? undefined : elements.all();
    const script = all
      ? renderTable(options.serviceCIDR, all)
      : renderDifference(chains ?? new Set(), difference);
    if (script) await exec('nft', ['-f', '-'], { input: script });
    chains ??= new Set();
    for (const chain of chainsOf(all ?? difference.added)) chains.add(chain);
    elements.commit();
    for (const args of staleFlows(difference)) await forgetFlows(args);
  }

  /** conntrack ends with status 1 when there was no such flow. */
  async function forgetFlows(args: readonly string[]): Promise<void> {
    try {
      await exec('conntrack', args);
    } catch (error) {
      if (error instanceof ExecError && error.failure.code === 1) return;
      log.warn('UDP connections to a removed endpoint could not be deleted from conntrack', {
        error: errorMessage(error),
      });
    }
  }

  return {
    async run(signal) {
      const backoff = new Backoff(retry);
      const stopped = aborted(signal);
      for (const service of services.lister.list()) changed.add(objectKey(service));
      while (!signal.aborted) {
        readChanged();
        try {
          await apply();
          backoff.reset();
        } catch (error) {
          chains = undefined;
          const delay = backoff.next();
          log.error('the nft rules of Services were not applied; writing all of them again', {
            error: errorMessage(error),
            inMs: delay,
          });
          await sleep(clock, delay, signal).catch(onlyAbort(signal));
          continue;
        }
        if (changed.size > 0) continue;
        await Promise.race([
          new Promise<void>((resolve) => {
            wake = resolve;
          }),
          stopped,
        ]);
      }
    },
  };
}

const onlyAbort = (signal: AbortSignal) => (error: unknown) => {
  if (!signal.aborted) throw error;
};

/** Removes everything the proxy made in the kernel; fine when there is nothing. */
export async function removeServiceRules(exec: Exec): Promise<void> {
  await exec('nft', ['-f', '-'], { input: `add table ${table}\ndelete table ${table}\n` });
}
