import { recordsAt, textAt } from '../../apimachinery/fields.ts';
import { containersOf, isOver, isReady } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

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
    const container = containersOf(pod).find(({ status, isInit }) =>
      isInit
        ? textAt(status, 'state', 'terminated', 'reason') !== 'Completed' && status.ready !== true
        : status.ready !== true,
    );
    const hasStatuses = recordsAt(pod, 'status', 'containerStatuses').length > 0;
    if (!container || !hasStatuses)
      return { severity: 'waiting', says: `the node ${node} has not reported it yet` };
    const isRunning =
      Object.hasOwn(container.status, 'state') &&
      textAt(container.status, 'state', 'running', 'startedAt') !== '';
    const kind = container.isInit ? 'init container' : 'container';
    const doing = isRunning
      ? container.isInit
        ? 'runs, and the next one waits for its end'
        : 'runs and is not ready yet'
      : 'is being started';
    return { severity: 'waiting', says: `${kind} ${container.name} ${doing}` };
  },
};
