/**
 * Objects of the API, read by this process. A wait reads several times a second, and starting kubectl for
 * each read would take processor time from the tested programs.
 */
import { parseArgs } from 'node:util';
import { systemClock } from '../../../src/base/clock.ts';
import { type ApiResources, discover, findResource, preferred } from '../../../src/cli/objects/discovery.ts';
import { createHttpsTransport } from '../../../src/client/https-transport.ts';
import { empty, loadKubeconfig } from '../../../src/client/kubeconfig.ts';
import { type ResolvedContext, resolveContext } from '../../../src/client/kubeconfig-connection.ts';
import { createRequester } from '../../../src/client/requester.ts';
import { collectionPath, listQuery, objectPath } from '../../../src/client/resource-path.ts';
import { isTransportError } from '../../../src/client/transport-error.ts';

/**
 * Reads like `kubectl get … -o json`, with `TYPE [NAME]`, a namespace and selectors. Rejects where kubectl
 * fails.
 */
export type ReadObjects = (args: readonly string[]) => Promise<unknown>;

/** Returns a reader for the user of this kubeconfig, which is read each time: certificates are renewed. */
export function objectReader(kubeconfig: string): ReadObjects {
  let kept: Connection | undefined;
  return async (args) => {
    const context = resolveContext(loadKubeconfig([kubeconfig]) ?? empty);
    const identity = JSON.stringify(context);
    if (kept?.identity !== identity) {
      kept?.close();
      kept = undefined;
    }
    if (kept) {
      try {
        return await kept.read(args);
      } catch (error) {
        if (!isTransportError(error)) throw error;
        // The server may have been restarted since, or may have closed an idle connection.
        kept.close();
      }
    }
    kept = connect(context, identity);
    return kept.read(args);
  };
}

interface Connection {
  readonly identity: string;
  readonly read: ReadObjects;
  close(): void;
}

function connect({ namespace, ...context }: ResolvedContext, identity: string): Connection {
  const transport = createHttpsTransport({ ...context, clock: systemClock });
  const requester = createRequester(transport);
  let resources: ApiResources | undefined;
  const read: ReadObjects = async (args) => {
    const [type, name, options] = parsed(args);
    resources ??= preferred(await discover(requester));
    const resource = findResource(resources, type);
    const space = options.namespace ?? namespace;
    const path =
      name === undefined
        ? `${collectionPath(resource, space)}${listQuery(options)}`
        : objectPath(resource, name, space);
    return requester.json({ method: 'GET', path });
  };
  return { identity, read, close: () => transport.close() };
}

function parsed(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      namespace: { type: 'string', short: 'n' },
      selector: { type: 'string', short: 'l' },
      'field-selector': { type: 'string' },
    },
  });
  const [verb, type, name, ...more] = positionals;
  if (verb !== 'get' || type === undefined || more.length > 0) {
    throw new Error(`kubectl.json reads by get TYPE [NAME], not by ${args.join(' ')}`);
  }
  const { namespace, selector: labelSelector, 'field-selector': fieldSelector } = values;
  return [type, name, { namespace, labelSelector, fieldSelector }] as const;
}
