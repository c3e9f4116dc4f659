/**
 * Keeps the kernel's service rules in sync with Services and EndpointSlices. Informer events only mark
 * services as changed; a round reads the current objects and applies all differences in one transaction,
 * while new marks are collected for the next round. The kernel is never listed: after a failed transaction
 * the whole table is written again.
 */

import { nodeResource } from '../api/core/v1/node/node.ts';
import { type ClusterPlaces, ExternalPorts } from '../api/core/v1/service/external-ports.ts';
import { type Service, serviceResource } from '../api/core/v1/service/service.ts';
import { apiService } from '../api/core/v1/system-objects.ts';
import {
  type EndpointSlice,
  endpointSliceResource,
  lastChangeAnnotation,
  serviceNameLabel,
} from '../api/discovery/v1/endpoint-slice.ts';
import { type KubeObject, type ObjectKey, objectKey } from '../apimachinery/meta.ts';
import { aborted, unlessAborted } from '../base/abort.ts';
import { Backoff } from '../base/backoff.ts';
import { type Clock, sleep } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Family } from '../base/metrics/exposition.ts';
import type { InformerFactory, Lister } from '../client/informer.ts';
import { deleteFlows } from '../os/conntrack.ts';
import type { Exec } from '../os/exec.ts';
import { ElementTable } from './element-table.ts';
import { elementsOf } from './elements.ts';
import { ProxyCounts } from './proxy-counts.ts';
import { chainsOf, renderDifference, renderTable, table } from './render.ts';
import { serviceRules } from './service-map.ts';
import { staleFlows } from './stale-flows.ts';

/** Traffic to an address of `serviceCIDR` that belongs to no service is rejected at once. */
export interface ProxierOptions extends Required<ClusterPlaces> {
  /** Informers that are not started yet: the proxier registers the informers it reads. */
  readonly informers: InformerFactory;
  /**
   * Informers of the metadata of Nodes. The caller starts them, possibly after `run`, which waits for them.
   */
  readonly nodeInformers: InformerFactory;
  readonly exec: Exec;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Proxier {
  /**
   * Runs until the signal aborts; call it when the informers have synced. The rules are kept in the kernel.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Returns the metrics, under kube-proxy's names. */
  families(): readonly Family[];
}

const bySlice = 'service';
/** The key of the Service whose endpoints are the masters. */
const mastersKey = `${apiService.namespace}/${apiService.name}`;
const retry = { initialMs: 100, maxMs: 30_000 };

/** Returns the key of a slice's service; empty if the slice has no such label. */
function serviceKeysOf(slice: EndpointSlice): readonly ObjectKey[] {
  const name = slice.metadata.labels?.[serviceNameLabel];
  return name ? [`${slice.metadata.namespace}/${name}`] : [];
}

const mastersIn = (slices: Lister<EndpointSlice>): readonly string[] =>
  slices
    .byIndex(bySlice, mastersKey)
    .flatMap(({ endpoints }) => endpoints.flatMap(({ addresses }) => addresses))
    .sort();

/**
 * Returns the time of the change that caused a slice, in milliseconds since the epoch; undefined if the slice
 * has none, or the same as before.
 */
function triggerOf([now, before]: readonly EndpointSlice[]): number | undefined {
  const told = now?.metadata.annotations?.[lastChangeAnnotation];
  if (told === undefined || told === before?.metadata.annotations?.[lastChangeAnnotation]) return undefined;
  const at = Date.parse(told);
  return Number.isNaN(at) ? undefined : at;
}

export function createProxier(options: ProxierOptions): Proxier {
  const { informers, exec, clock, log } = options;
  const services = informers.informerFor(serviceResource);
  const slices = informers.informerFor(endpointSliceResource);
  slices.addIndex(bySlice, serviceKeysOf);

  const elements = new ElementTable();
  const changed = new Set<ObjectKey>();
  let wake = () => {};
  const mark = (key: ObjectKey) => {
    changed.add(key);
    wake();
  };
  const counts = new ProxyCounts(clock);
  /** Objects that exist before the first round do not count as changed. */
  let isStarted = false;
  const external = new ExternalPorts(options);
  const markAll = (keys: Iterable<ObjectKey>) => {
    for (const key of keys) mark(key);
  };
  const serviceChanged = (service: Service) => {
    counts.changed('service');
    const key = objectKey(service);
    markAll(external.setService(key, services.lister.get(key)));
    mark(key);
  };
  const slicesChanged = (...all: readonly EndpointSlice[]) => {
    counts.changed('endpoint', isStarted ? triggerOf(all) : undefined);
    const keys = all.flatMap(serviceKeysOf);
    keys.forEach(mark);
    if (keys.includes(mastersKey)) markAll(external.setMasters(mastersIn(slices.lister)));
  };
  services.addEventHandler({ onAdd: serviceChanged, onUpdate: serviceChanged, onDelete: serviceChanged });
  slices.addEventHandler({
    onAdd: (slice) => slicesChanged(slice),
    onUpdate: (slice, old) => slicesChanged(slice, old),
    onDelete: (slice) => slicesChanged(slice),
  });

  const nodes = options.nodeInformers.informerFor<KubeObject>({ ...nodeResource, part: 'metadata' });
  const nodeChanged = ({ metadata: { name } }: KubeObject) =>
    markAll(external.setNode(name, nodes.lister.get(name)));
  nodes.addEventHandler({ onAdd: nodeChanged, onUpdate: nodeChanged, onDelete: nodeChanged });

  /** The chains in the kernel; undefined if the whole table must be written. */
  let chains: ReadonlySet<string> | undefined;

  function readChanged(): void {
    for (const key of changed) {
      const service = services.lister.get(key);
      const rules = service
        ? serviceRules(service, slices.lister.byIndex(bySlice, key), options.nodeName, (...port) =>
            external.isServed(key, ...port),
          )
        : [];
      elements.replace(key, elementsOf(rules));
    }
    changed.clear();
  }

  async function apply(): Promise<void> {
    const difference = elements.difference();
    const added = chains ? difference.added : elements.all();
    const script = chains ? renderDifference(chains, difference) : renderTable(options.serviceCIDR, added);
    if (script) await exec('nft', ['-f', '-'], { input: script });
    chains = new Set([...(chains ?? []), ...chainsOf(added)]);
    elements.commit();
    await deleteFlows(exec, log, 'a removed endpoint', staleFlows(difference));
  }

  return {
    families: () => counts.families(),
    async run(signal) {
      // The proxier waits for the Nodes, since an address of a node must never be routed to a Service.
      try {
        await unlessAborted(signal, nodes.synced);
      } catch {
        return;
      }
      const backoff = new Backoff(retry);
      const stopped = aborted(signal);
      while (!signal.aborted) {
        readChanged();
        try {
          await counts.sync(apply);
          isStarted = true;
          backoff.reset();
        } catch (error) {
          chains = undefined;
          const delay = backoff.next();
          log.error('the nft rules of Services were not applied; writing all of them again', {
            error: errorMessage(error),
            inMs: delay,
          });
          // The sleep rejects only when the signal aborts, which ends the loop.
          await sleep(clock, delay, signal).catch(() => undefined);
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

/** Removes everything that the proxy created in the kernel; does nothing if there is nothing. */
export async function removeServiceRules(exec: Exec): Promise<void> {
  await exec('nft', ['-f', '-'], { input: `add table ${table}\ndelete table ${table}\n` });
}
