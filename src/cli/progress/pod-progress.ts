/**
 * Shows the progress of a pod, or of the pods of a workload: from a watch of the pods and, while images are
 * pulled, from the nodes' reports, once a second. No request is sent before the display needs one, so that a
 * short wait without a terminal costs nothing; a user who may not read `nodes/proxy` sees no pulls.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { onAbort } from '../../base/abort.ts';
import { sleep } from '../../base/clock.ts';
import { keepDoing } from '../../base/keep-doing.ts';
import { type Activity, beginWork } from '../../terminal/live-lines.ts';
import { findResource } from '../objects/discovery.ts';
import { followAll } from '../objects/follow.ts';
import {
  type CollectionTarget,
  collectionOf,
  type ObjectTarget,
  targetPath,
} from '../objects/object-target.ts';
import { podSelectorOf } from '../objects/objects.ts';
import type { VerbContext } from '../verb.ts';
import { type Pull, podsText, podText, pullsIn, pullsText, waitingNodes } from './object-progress.ts';

const everyMs = 1000;
/** Maximum number of nodes that are queried: a line has no room for more. */
const maxNodes = 3;

/**
 * Shows the progress until the result is disposed of. Never rejects: an error here must not end the command.
 */
export function showPods(context: VerbContext, target: ObjectTarget, work: Activity): AsyncDisposable {
  const over = new AbortController();
  const showing = showPodProgress(context, target, work, over.signal);
  return {
    async [Symbol.asyncDispose]() {
      over.abort();
      await showing;
    },
  };
}

/**
 * Shows the pulls of the images of the pods in a collection at a terminal, until the result is disposed of:
 * nothing is shown while no image is pulled. Never rejects.
 */
export function showPulls(context: VerbContext, collection: CollectionTarget): AsyncDisposable {
  const over = new AbortController();
  const { progress } = context.io;
  // Only a terminal has lines that disappear.
  const isLive = progress?.delayMs === 0;
  const showing = isLive ? followPulls(context, collection, over.signal) : Promise.resolve();
  return {
    async [Symbol.asyncDispose]() {
      over.abort();
      await showing;
    },
  };
}

async function followPulls(
  context: VerbContext,
  collection: CollectionTarget,
  signal: AbortSignal,
): Promise<void> {
  const { progress } = context.io;
  const over = new AbortController();
  const unlink = [signal, context.io.signal].map((one) => onAbort(one, () => over.abort()));
  const seen: Seen = { pods: [], pulls: [] };
  let work: Activity | undefined;
  const say = () => {
    const text = pullsText(seen.pods, seen.pulls);
    if (text === '') {
      work?.[Symbol.dispose]();
      work = undefined;
      return;
    }
    work ??= beginWork(progress, 'images');
    work.say(text);
  };
  await Promise.allSettled([
    followPods(context, async () => collection, seen, say, over.signal).finally(() => over.abort()),
    askNodes(context, seen, say, over.signal),
  ]);
  work?.[Symbol.dispose]();
  for (const forget of unlink) forget();
}

async function showPodProgress(
  context: VerbContext,
  target: ObjectTarget,
  work: Activity,
  signal: AbortSignal,
): Promise<void> {
  const { progress, clock } = context.io;
  if (!progress) return;
  const over = new AbortController();
  const unlink = [signal, context.io.signal].map((one) => onAbort(one, () => over.abort()));
  const seen: Seen = { pods: [], pulls: [] };
  const say = () => {
    const [pod] = seen.pods;
    if (!isPod(target)) work.say(podsText(seen.pods, seen.pulls));
    else work.say(pod ? podText(pod, seen.pulls) : 'does not exist');
  };
  const begun = progress.delayMs > 0 ? sleep(clock, progress.delayMs, over.signal) : Promise.resolve();
  await Promise.allSettled([
    begun
      .then(() => followPods(context, () => podsOf(context, target), seen, say, over.signal))
      .finally(() => over.abort()),
    begun.then(() => askNodes(context, seen, say, over.signal)),
  ]);
  for (const forget of unlink) forget();
}

export const isPod = ({ resource }: Pick<ObjectTarget, 'resource'>): boolean =>
  resource.group === '' && resource.plural === 'pods';

interface Seen {
  pods: readonly JsonObject[];
  pulls: readonly Pull[];
}

/** Resolves to the collection of the pod alone, or of the pods that a workload selects. */
async function podsOf({ cluster }: VerbContext, target: ObjectTarget): Promise<CollectionTarget> {
  const resource = findResource(await cluster().resources(), 'pods');
  const { namespace, name } = target;
  if (isPod(target)) return collectionOf({ resource, namespace, name });
  const labelSelector = podSelectorOf(await cluster().get(targetPath(target)));
  return { resource, namespace, labelSelector, fieldSelector: undefined };
}

async function followPods(
  { cluster, io }: VerbContext,
  collectionOfPods: () => Promise<CollectionTarget>,
  seen: Seen,
  say: () => void,
  signal: AbortSignal,
): Promise<void> {
  const options = { clock: io.clock, timeoutMs: undefined, signal };
  for await (const pods of followAll(cluster(), await collectionOfPods(), options)) {
    seen.pods = [...pods.values()];
    say();
  }
}

async function askNodes(
  { cluster, io }: VerbContext,
  seen: Seen,
  say: () => void,
  signal: AbortSignal,
): Promise<void> {
  const silent = new Set<string>();
  await keepDoing({ clock: io.clock, signal, restMs: everyMs }, async () => {
    const nodes = waitingNodes(seen.pods).filter((node) => node !== '' && !silent.has(node));
    const answers = nodes.slice(0, maxNodes).map(async (node) => {
      try {
        return pullsIn(await cluster().get(`/api/v1/nodes/${encodeURIComponent(node)}/proxy/pulls`));
      } catch {
        // The user may not query this node, or the node does not report pulls.
        silent.add(node);
        return [];
      }
    });
    seen.pulls = (await Promise.all(answers)).flat();
    if (nodes.length > 0) say();
  });
}
