/**
 * Serves the port on which functions, workflows and triggers are called: /function/NAME,
 * /function/NAMESPACE/NAME, /workflow/… and /trigger/NAMESPACE/PATH are passed on as requests to the API.
 */

import type { ApiServer } from '../../../apiserver/app.ts';
import { respondText } from '../../../apiserver/respond.ts';

type App = Pick<ApiServer['app'], 'fetch'>;

const plurals: Readonly<Record<string, string>> = { function: 'functions', workflow: 'workflows' };

/**
 * Returns the API path for a path of the gateway; undefined if there is none. The part after the function's
 * name is the path that the function receives. A single name means a function in the namespace `default`.
 */
export function callPath(path: string): string | undefined {
  const [, root = '', first = '', second, ...rest] = path.split('/');
  const plural = Object.hasOwn(plurals, root) ? plurals[root] : undefined;
  if (plural === undefined || first === '') return undefined;
  const [namespace, name] = second === undefined || second === '' ? ['default', first] : [first, second];
  const more = rest.map((part) => `/${part}`).join('');
  return `/apis/minik8s.io/v1/namespaces/${namespace}/${plural}/${name}/invoke${more}`;
}

const wrongPath =
  'functions are called at /function/NAME and /function/NAMESPACE/NAME, workflows at /workflow/NAME and /workflow/NAMESPACE/NAME, ' +
  'triggers at /trigger/NAMESPACE and their path\n';

/** Serves unauthenticated clients too; as everywhere, authorization decides which calls a client may make. */
export const gatewayApp = (app: App, triggerPath: (path: string) => string | undefined): App => ({
  fetch(request, env) {
    const path = URL.parse(request.url)?.pathname ?? '';
    if (path === '/healthz') return respondText(200, 'ok', {});
    const address = callPath(path) ?? triggerPath(path);
    if (address !== undefined) return app.fetch(request, { ...env, address, mayBeAnonymous: true });
    return respondText(404, wrongPath, {});
  },
});
