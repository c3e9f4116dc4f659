/** pods/NAME/exec: runs a program in a container (core/v1 PodExecOptions). */
import { booleanParameter } from '../../apimachinery/list-options.ts';
import { newBadRequest } from '../../apimachinery/status-error.ts';
import type { Handler } from '../../apiserver/request/request-scope.ts';
import type { NodeConnection } from '../node-connection.ts';
import { agentPath, chooseContainer } from './pod-agent.ts';
import { streamToPod } from './pod-stream.ts';

export const podExec =
  (agents: NodeConnection | undefined): Handler =>
  (scope) =>
    streamToPod(agents, scope, (pod, query) => {
      const container = chooseContainer(pod, query.get('container'));
      const asked = streamsQuery(query, false);
      const command = query.getAll('command');
      if (command.length === 0) throw newBadRequest('you must specify a command to run');
      for (const word of command) asked.append('command', word);
      return `/exec/${agentPath(pod, container)}?${asked}`;
    });

/** Translates the client's stream parameters to the kubelet's; `outputs` is the default for outputs. */
export function streamsQuery(query: URLSearchParams, outputs: boolean): URLSearchParams {
  const wanted = {
    input: booleanParameter(query, 'stdin'),
    output: booleanParameter(query, 'stdout') ?? outputs,
    error: booleanParameter(query, 'stderr') ?? outputs,
    tty: booleanParameter(query, 'tty'),
  };
  if (!wanted.input && !wanted.output && !wanted.error) {
    throw newBadRequest('you must specify at least 1 of stdin, stdout, stderr');
  }
  return new URLSearchParams(Object.entries(wanted).flatMap(([name, is]) => (is ? [[name, '1']] : [])));
}
