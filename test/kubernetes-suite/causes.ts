/** What is behind a failure, as far as it is known: from what the test said, and from its name. Pure. */
import type { TestResult } from './suite-log.ts';

interface Cause {
  readonly test?: RegExp;
  readonly message?: RegExp;
  /** `$1` is the first group of `message`. */
  readonly because: string;
}

const causes: readonly Cause[] = [
  {
    test: /AdmissionWebhook|ValidatingAdmissionPolicy/,
    because: 'admission webhooks and policies are not served',
  },
  {
    test: /CustomResource|for CRDs|of a CR\b|valid CR\b|in a CR\b|a CR with/,
    because: 'custom resources are not served',
  },
  { message: /could not find the requested resource \(\w+ ([a-z]+)[.) ]/, because: '$1 are not served' },
];

/** Undefined where nobody has looked yet. */
export function causeOf({ name, message }: TestResult): string | undefined {
  for (const cause of causes) {
    if (cause.test && !cause.test.test(name)) continue;
    const found = cause.message?.exec(message);
    if (cause.message && !found) continue;
    return cause.because.replace('$1', found?.[1] ?? '');
  }
  return undefined;
}
