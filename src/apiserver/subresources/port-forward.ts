/** pods/NAME/portforward: connections to ports of a pod (core/v1 PodPortForwardOptions). */
import type { Handler } from '../request-scope.ts';
import { agentPath } from './pod-agent.ts';
import { streamToPod } from './pod-stream.ts';

export const podPortForward: Handler = (scope) =>
  streamToPod(scope, (pod, query) => {
    // Only some clients name the ports in the URL; others do so for each connection.
    const ports = new URLSearchParams(query.getAll('ports').map((port) => ['port', port]));
    return `/portForward/${agentPath(pod)}?${ports}`;
  });
