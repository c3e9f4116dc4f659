/** Admission of requests for subresources that store no object, such as an Eviction or a connection. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { Handler, RequestScope } from '../../apiserver/request/request-scope.ts';
import { type WriteOptions, warner } from '../../apiserver/write-options.ts';

/** Admits an object that is created to act on another one, such as an Eviction. Throws a StatusError. */
export function reviewBody(
  { server, definition, served, info, user }: RequestScope,
  { dryRun, fieldManager, warn, aside }: WriteOptions,
  body: JsonObject,
): Promise<void> {
  const { namespace, name, subresource } = info;
  const target = { definition, served, namespace, name, subresource, aside };
  return server.admission.review({ ...target, operation: 'create', user, dryRun, fieldManager, warn, body });
}

/** Returns the handler of a connection that admission may reject before it is opened. */
export const reviewed =
  (handler: Handler, kind: string): Handler =>
  async (scope) => {
    const { server, definition, served, info, user } = scope;
    const { namespace, name, subresource } = info;
    const target = { definition, served, namespace, name: nameOf(name), subresource, aside: scope.aside };
    const body = { kind, apiVersion: 'v1', ...optionsOf(scope) };
    await server.admission.review({ ...target, operation: 'connect', user, warn: warner(scope), body });
    return handler(scope);
  };

/** Returns the name of an object in `[SCHEME:]NAME[:PORT]`, as a proxy is addressed. */
const nameOf = (name: string) => {
  const parts = name.split(':');
  return (parts.length === 3 ? parts[1] : parts[0]) || name;
};

type ReadParameter = (values: readonly string[]) => unknown;

const flag: ReadParameter = ([value]) => value === 'true' || value === '1';
const numbers: ReadParameter = (values) =>
  values.flatMap((value) => value.split(',').map(Number).filter(Number.isInteger));

const parameters: readonly (readonly [string, ReadParameter])[] = [
  ['stdin', flag],
  ['stdout', flag],
  ['stderr', flag],
  ['tty', flag],
  ['container', ([value]) => value],
  ['command', (values) => values],
  ['ports', numbers],
];

/** Returns the options of a connection, from the query and the path of the request. */
function optionsOf({ query, info }: RequestScope): JsonObject {
  const given = parameters.filter(([name]) => query.has(name));
  const options = Object.fromEntries(given.map(([name, read]) => [name, read(query.getAll(name))]));
  return info.rest ? { ...options, path: info.rest } : options;
}
