/** Creates a definition and waits until its kind is served. */
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { Lane, requestBytes, type Target } from '../lane.ts';
import { definitionsPath } from './objects.ts';

/** `path` is that of the objects. */
export async function define(target: Target, definition: object, path: string): Promise<void> {
  const lane = new Lane(target, true);
  try {
    await lane.ask(requestBytes('POST', definitionsPath, JSON.stringify(definition)));
    const isServed = async () => {
      const asking = new Lane(target, true);
      return asking
        .ask(requestBytes('GET', `${path}?limit=1`))
        .then(
          () => true,
          () => false,
        )
        .finally(() => asking.close());
    };
    await waitFor(path, isServed, { timeoutMs: 60_000 });
  } finally {
    lane.close();
  }
}
