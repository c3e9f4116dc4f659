/**
 * Answers with a page of metrics. The page is encoded in turns as it is read, so that other requests are
 * served between two of its pieces.
 */
import { expositionType } from '../base/metrics/exposition.ts';
import type { Registry } from '../base/metrics/registry.ts';
import type { Document } from './options.ts';
import { respond } from './respond.ts';
import type { Turns } from './turns.ts';

const headers = { 'content-type': expositionType, 'cache-control': 'no-cache, private' };

export const metricsPage =
  (page: Pick<Registry, 'pieces'>, turns: Turns): Document =>
  async () => {
    const pieces = page.pieces();
    const first = pieces.next();
    const second = pieces.next();
    if (second.done) return respond(200, first.value ?? '', headers);
    const made = [first, second];
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { value, done } = made.shift() ?? pieces.next();
        if (done) return controller.close();
        controller.enqueue(Buffer.from(value));
        await turns.next();
      },
    });
    return respond(200, body, headers);
  };
