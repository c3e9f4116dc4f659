/** The time at which controllers begin whose work can wait until a new cluster runs pods. */
import { type Node, nodeResource } from '../api/core/v1/node/node.ts';
import { isNodeReady } from '../api/core/v1/node/readiness.ts';
import { onAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { InformerFactory } from '../client/informer.ts';

/** Limit in milliseconds, for clusters without a node that is Ready. */
const atMostMs = 2000;

/**
 * Resolves when a node is Ready, after two seconds, or when the signal aborts. Must be called before the
 * informers start.
 */
export async function laterStart(
  { clock, informers }: { readonly clock: Clock; readonly informers: InformerFactory },
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = (node: Node) => {
    if (isNodeReady(node)) resolve();
  };
  informers.informerFor(nodeResource).addEventHandler({ onAdd: look, onUpdate: look });
  const timer = clock.after(atMostMs, resolve);
  const forget = onAbort(signal, resolve);
  await promise;
  timer.cancel();
  forget();
}
