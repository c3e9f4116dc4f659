/** Reporter of node:test for a test process: Node's own `spec`, without the counts of this single process. */
import { Readable } from 'node:stream';
import { spec, type TestEvent } from 'node:test/reporters';

export default async function* (events: AsyncIterable<TestEvent>): AsyncIterable<unknown> {
  yield* Readable.from(withoutCounts(events)).compose(spec);
}

async function* withoutCounts(events: AsyncIterable<TestEvent>): AsyncIterable<TestEvent> {
  for await (const event of events) {
    const count =
      event.type === 'test:diagnostic' &&
      event.data.nesting === 0 &&
      /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/.test(event.data.message);
    if (!count) yield event;
  }
}
