/** pods/NAME/attach: attaches to a container's first process (core/v1 PodAttachOptions). */
import type { Handler } from '../request-scope.ts';
import { streamsQuery } from './exec.ts';
import { agentPath, chooseContainer } from './pod-agent.ts';
import { streamToPod } from './pod-stream.ts';

export const podAttach: Handler = (scope) =>
  streamToPod(scope, (pod, query) => {
    const container = chooseContainer(pod, query.get('container'));
    return `/attach/${agentPath(pod, container)}?${streamsQuery(query, true)}`;
  });
