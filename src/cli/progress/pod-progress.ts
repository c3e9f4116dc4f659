/**
 * Shows the progress of a pod, or of the pods of a workload: from a watch of the pods and, while images are
 * pulled, from the nodes' reports, once a second. No request is sent before the display needs one, so that a
 * short wait without a terminal costs nothing; a user who may not read `nodes/proxy` sees no pulls.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { onAbort } from '../../base/abort.ts';
import { sleep } from '../../base/clock.ts';
import { keepDoing } from '../../base/keep-doing.ts';
import type { Activity } from '../../terminal/live-lines.ts';
import { findResource } from '../objects/discovery.ts';
import { followAll } from '../objects/follow.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { podSelectorOf } from '../objects/objects.ts';
import type { VerbContext } from '../verb.ts';
import { type Pull, podsText, podText, pullsIn, waitingNodes } from './object-progress.ts';

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
    else work.say(pod ? podText(pod, seen.pulls) : 'not there');
  };
  const begun = progress.delayMs > 0 ? sleep(clock, progress.delayMs, over.signal) : Promise.resolve();
  await Promise.allSettled([
    begun.then(() => followPods(context, target, seen, say, over.signal)).finally(() => over.abort()),
    begun.then(() => askNodes(context, seen, say, over.signal)),
  ]);
  for (const forget of unlink) forget();
}

export const isPod = ({ resource }: ObjectTarget): boolean =>
  resource.group === '' && resource.plural === 'pods';

interface Seen {
  pods: readonly JsonObject[];
  pulls: readonly Pull[];
}

async function followPods(
  { cluster, io }: VerbContext,
  target: ObjectTarget,
  seen: Seen,
  say: () => void,
  signal: AbortSignal,
): Promise<void> {
  const resource = findResource(await cluster().resources(), 'pods');
  const { namespace } = target;
  const selectors = isPod(target)
    ? { labelSelector: undefined, fieldSelector: `metadata.name=${target.name}` }
    : { labelSelector: podSelectorOf(await cluster().get(targetPath(target))), fieldSelector: undefined };
  const collection = { resource, namespace, ...selectors };
  const options = { clock: io.clock, timeoutMs: undefined, signal };
  for await (const pods of followAll(cluster(), collection, options)) {
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
        // The user is not permitted to query this node, or the node has no such report.
        silent.add(node);
        return [];
      }
    });
    seen.pulls = (await Promise.all(answers)).flat();
    if (nodes.length > 0) say();
  });
}
