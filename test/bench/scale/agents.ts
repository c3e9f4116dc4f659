/**
 * Simulates the agents of all nodes for pods that end at once: reports that they run, and that they have
 * succeeded.
 */

import { isPodTerminal } from '../../../src/api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { KindSet } from '../../../src/apimachinery/kind-set.ts';
import { objectKey } from '../../../src/apimachinery/meta.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { rfc3339 } from '../../../src/base/time.ts';
import type { Client } from '../../../src/client/client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { watched } from '../../../src/controller-runtime/definition.ts';
import { createManager } from '../../../src/controller-runtime/manager.ts';

const statusOf = (phase: 'Running' | 'Succeeded') => {
  const time = rfc3339(Date.now());
  const running = { running: { startedAt: time } };
  const state = phase === 'Running' ? running : { terminated: { exitCode: 0, finishedAt: time } };
  const ready = phase === 'Running';
  return {
    phase,
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: time }],
    containerStatuses: [{ name: 'app', image: 'app:1', imageID: '', ready, restartCount: 0, state }],
  };
};

/** Resolves when the signal has aborted. */
export function runAgents(client: Client, signal: AbortSignal): Promise<void> {
  const context = {
    client,
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
    kinds: new KindSet([]),
  };
  const informers = createInformerFactory(context);
  const manager = createManager({ ...context, informers, events: { event: () => undefined } });
  const say = ({ metadata: { name, namespace = '' } }: Pod, phase: 'Running' | 'Succeeded') =>
    client.resource(podResource).patch(name, namespace, 'merge', { status: statusOf(phase) }, 'status');
  manager.add(({ informers }) => {
    const pods = informers.informerFor(podResource).lister;
    return {
      name: 'agents',
      workers: 32,
      watches: [watched(podResource, (pod) => (pod.spec.nodeName ? [objectKey(pod)] : []))],
      async reconcile(key) {
        const pod = pods.get(key);
        if (!pod?.spec.nodeName || isPodTerminal(pod)) return undefined;
        await say(pod, pod.status?.phase === 'Running' ? 'Succeeded' : 'Running');
        return undefined;
      },
    };
  });
  return manager.run(signal);
}
