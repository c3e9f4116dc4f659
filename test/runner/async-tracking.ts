/**
 * Switches off the asynchronous hooks of node:test, which follow every promise and callback of a process: so
 * a test belongs to the suite that defines it, and an uncaught error fails the test that caused it. They take
 * a quarter of the processor time of tests of the API server. Once the first test begins, all tests are
 * defined, and such an error is attributed to the test that runs.
 */
import type { AsyncHook } from 'node:async_hooks';
import { createRequire } from 'node:module';
import type { TestEvent } from 'node:test/reporters';

interface Internals {
  getHookArrays(): readonly [readonly AsyncHook[], ...unknown[]];
}

/** Flag of a test process, which gives access to the hooks of node:test. */
export const trackingFlag = '--expose-internals';

/** Message about an error for which node:test knows no test. */
const withoutTest = /^Error: A resource generated asynchronous activity/;

interface UncaughtError {
  /** Names of the test that ran then and of the suites around it, outermost first. */
  readonly path: readonly string[];
  readonly error: unknown;
}

/** Ends the tracking when the first test begins, and attributes errors that nothing catches from then on. */
export class Uncaught {
  /** The test that runs. */
  #path: readonly string[] = [];
  #tracked = true;
  readonly #errors: UncaughtError[] = [];

  /** Returns the error that the event reports, if node:test does not know its test. */
  see({ type, data }: TestEvent): readonly UncaughtError[] {
    if (type === 'test:dequeue') {
      this.#path = [...this.#path.slice(0, data.nesting), data.name];
      if (this.#tracked && data.type === 'test') this.#stop();
    }
    if (type !== 'test:diagnostic' || !withoutTest.test(data.message)) return [];
    const at = this.#errors.findIndex(({ error }) => data.message.includes(String(error)));
    return at < 0 ? [] : this.#errors.splice(at, 1);
  }

  #stop(): void {
    this.#tracked = false;
    if (!process.execArgv.includes(trackingFlag)) return;
    const internals = createRequire(import.meta.url)('internal/async_hooks') as Internals;
    for (const hook of [...internals.getHookArrays()[0]]) hook.disable();
    const onError = (error: unknown) => {
      // The events of what has happened until now arrive first.
      setImmediate(() => this.#errors.push({ path: this.#path, error }));
    };
    process.prependListener('uncaughtException', onError);
    process.prependListener('unhandledRejection', onError);
  }
}
