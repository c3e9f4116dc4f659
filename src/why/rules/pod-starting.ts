import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import { type ContainerFacts, containersOf, isOver, isReady } from '../pod-facts.ts';
import type { Mend, Rule } from '../rule.ts';

export const podStarting: Rule = {
  kinds: ['pods'],
  symptom: 'A pod is in ContainerCreating, PodInitializing or Init:0/1.',
  cause: 'Its node prepares it: images, volumes, init containers.',
  advice: 'Wait; the explanation names the container that starts next.',
  find(pod) {
    if (isOver(pod) || isReady(pod)) return undefined;
    const node = textAt(pod, 'spec', 'nodeName');
    if (node === '')
      return {
        severity: 'waiting',
        says: `it waits for the scheduler ${textAt(pod, 'spec', 'schedulerName')}`,
      };
    const container = containersOf(pod).find(isAwaited);
    const hasStatuses = recordsAt(pod, 'status', 'containerStatuses').length > 0;
    if (!container || !hasStatuses)
      return { severity: 'waiting', says: `the node ${node} has not reported it yet` };
    const kind = container.isInit ? 'init container' : 'container';
    const isRunning = textAt(container.status, 'state', 'running', 'startedAt') !== '';
    return {
      severity: 'waiting',
      says: `${kind} ${container.name} ${doingOf(container, isRunning)}`,
      ...(isRunning && container.isInit && { mend: [shownLog(pod, container.name)] }),
    };
  },
};

function doingOf({ isInit }: ContainerFacts, isRunning: boolean): string {
  if (!isRunning) return 'is being started';
  return isInit ? 'runs, and the next one waits for its end' : 'runs and is not ready yet';
}

const isAwaited = ({ status, isInit }: ContainerFacts): boolean =>
  status.ready !== true && !(isInit && textAt(status, 'state', 'terminated', 'reason') === 'Completed');

const shownLog = (pod: JsonObject, container: string): Mend => ({
  command: command`logs ${metadataOf(pod).name}${inNamespace(metadataOf(pod))} -c ${container}`,
  about: 'shows what it waits for',
});
