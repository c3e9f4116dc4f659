/** Functions in the API: their calls, and the access of nodes to their versions. */

import type { Handler } from '../../../apiserver/request/request-scope.ts';
import { publicCalls } from '../../../kube-apiserver/forwarding/public-calls.ts';
import type { ServerFeature, ServerFeatureFactory } from '../../../kube-apiserver/server-feature.ts';
import { serveEveryMethod } from '../../../kube-apiserver/subresources/every-method.ts';
import { functionResource } from '../api/function.ts';
import { functionNodeAccess } from './node-access.ts';

/** `call`: handler of calls; if absent, functions cannot be called. */
export const functionsFeature =
  (call: Handler | undefined): ServerFeatureFactory =>
  (server) => ({
    ...(call && { subresources: callsBy(call) }),
    nodeAccess: functionNodeAccess(server),
    authorizers: [publicCalls(server.cache, functionResource, ({ spec }) => spec.public)],
  });

const callsBy = (call: Handler): ServerFeature['subresources'] => ({
  [`${functionResource.group}/${functionResource.plural}`]: {
    invoke: { ...serveEveryMethod(call, 'FunctionCall', 'call'), takesPath: true },
  },
});
