/** Triggers on one master: the events of requests and of results of functions. */

import { publicCalls } from '../../../kube-apiserver/forwarding/public-calls.ts';
import type { ServerPart } from '../../../kube-apiserver/server-part.ts';
import { serveEveryMethod } from '../../../kube-apiserver/subresources/every-method.ts';
import { triggerResource } from '../api/trigger.ts';
import { fileNodeAccess } from './file-events.ts';
import { Intake, type IntakeOptions } from './intake.ts';
import { reportResults } from './report-results.ts';
import { takeRequest } from './take-request.ts';
import { triggerChains } from './trigger-chain.ts';

/** Creates the server part of triggers, which also stores the results of functions for triggers on them. */
export function triggersServer(options: IntakeOptions): ServerPart {
  const intake = new Intake(options);
  return {
    results: {
      listens: (namespace, name) => intake.triggersOfResults(namespace, name).length > 0,
      around: (call) => reportResults(intake, call),
    },
    feature: (server) => ({
      subresources: {
        [`${triggerResource.group}/${triggerResource.plural}`]: {
          invoke: serveEveryMethod(takeRequest(intake), 'TriggerRequest', 'call'),
        },
      },
      nodeAccess: fileNodeAccess(server),
      admission: [triggerChains],
      authorizers: [publicCalls(server.cache, triggerResource, ({ spec }) => spec.http?.public === true)],
    }),
  };
}
