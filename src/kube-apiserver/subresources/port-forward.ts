/** pods/NAME/portforward: connections to ports of a pod (core/v1 PodPortForwardOptions). */

import type { Handler } from '../../apiserver/request/request-scope.ts';
import type { NodeConnection } from '../node-connection.ts';
import { agentPath } from './pod-agent.ts';
import { streamToPod } from './pod-stream.ts';

export const podPortForward =
  (agents: NodeConnection | undefined): Handler =>
  (scope) =>
    streamToPod(agents, scope, (pod, query) => {
      // Some clients name the ports in the URL; others name one for each connection.
      const ports = new URLSearchParams(query.getAll('ports').map((port) => ['port', port]));
      return `/portForward/${agentPath(pod)}?${ports}`;
    });
