/** Reports of a node about its Gateways: a condition after each round, and an event for each new problem. */
import type { Node } from '../../../api/core/v1/node/node.ts';
import { errorMessage, type Logger } from '../../../base/log.ts';
import type { EventRecorder } from '../../../controller-runtime/events.ts';
import { NotServedError } from '../../../web-server/not-served.ts';
import type { FrontResult } from '../../../web-server/web-server.ts';
import type { IngressServed } from '../../ingress/api/ingress-served.ts';

interface ReportOptions {
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly nodeName: string;
  readonly onState: (state: IngressServed) => void;
}

const nothingToServe: IngressServed = { reason: 'NothingToServe', message: 'there is no Gateway' };

/** Returns what is not served although it should be. */
function problemsOf({ httpsProblem, refused, portProblems, taken }: FrontResult): readonly string[] {
  const names = (hosts: readonly string[]) =>
    hosts
      .slice(0, 3)
      .map((host) => host || '*')
      .join(', ');
  return [
    ...(httpsProblem === undefined ? [] : [httpsProblem]),
    ...portProblems,
    ...(taken.length === 0 ? [] : [`hosts ${names(taken)} are served for Ingresses or Dns objects`]),
    ...(refused.length === 0 ? [] : [`nginx rejects the routes of ${names(refused)}: they answer 503`]),
  ];
}

export function stateReports({ onState, events, log, nodeName }: ReportOptions) {
  const node: Pick<Node, 'apiVersion' | 'kind' | 'metadata'> = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: nodeName, uid: nodeName, resourceVersion: '', creationTimestamp: '' },
  };
  let lastProblem = '';
  const report = (message: string) => {
    if (message === lastProblem) return;
    lastProblem = message;
    if (message === '') return log.info('Gateways are served again');
    log.error('Gateways are not served as written', { error: message });
    events.event(node, 'Warning', 'GatewayNotServed', message);
  };
  return {
    succeeded(isNeeded: boolean, result: FrontResult): void {
      if (!isNeeded) {
        onState(nothingToServe);
        report('');
        return;
      }
      const problem = problemsOf(result).join('; ');
      const message = problem === '' ? 'Gateways are served' : `Gateways are served, except: ${problem}`;
      onState({ reason: 'Serving', message });
      report(problem);
    },
    failed(error: unknown): void {
      const message = errorMessage(error);
      onState({ reason: error instanceof NotServedError ? error.reason : 'RoutingFailed', message });
      report(`Gateways are not served: ${message}`);
    },
  };
}
