/** pods/NAME/attach: attaches to a container's first process (core/v1 PodAttachOptions). */

import type { Handler } from '../../apiserver/request/request-scope.ts';
import type { NodeConnection } from '../node-connection.ts';
import { streamsQuery } from './exec.ts';
import { agentPath, chooseContainer } from './pod-agent.ts';
import { streamToPod } from './pod-stream.ts';

export const podAttach =
  (agents: NodeConnection | undefined): Handler =>
  (scope) =>
    streamToPod(agents, scope, (pod, query) => {
      const container = chooseContainer(pod, query.get('container'));
      return `/attach/${agentPath(pod, container)}?${streamsQuery(query, true)}`;
    });
