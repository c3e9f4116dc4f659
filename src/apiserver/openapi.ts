/** The API's description, made on the first request for it. */
import type { ResourceTable } from './server-context.ts';

export function createOpenApi(
  _resources: ResourceTable,
  _version: string,
): (request: Request) => Response | undefined {
  return () => undefined;
}
