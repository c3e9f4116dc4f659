/** A call of a function, and its answer. */
import { StatusError } from '../../../apimachinery/status-error.ts';
import { UsageError } from '../../../base/usage-error.ts';
import { findResource } from '../../../cli/objects/discovery.ts';
import { type ObjectTarget, targetPath } from '../../../cli/objects/object-target.ts';
import { textAt } from '../../../cli/objects/objects.ts';
import { printBody } from '../../../cli/print-body.ts';
import type { VerbContext } from '../../../cli/verb.ts';
import { unexpectedBody } from '../../../client/response-error.ts';

/** Reads `NAME` or `NAMESPACE/NAME`. */
export async function functionTarget({ cluster }: VerbContext, word: string): Promise<ObjectTarget> {
  const [first = '', second, ...more] = word.split('/');
  if (first === '' || second === '' || more.length > 0) {
    throw new UsageError(`a function is named by NAME or NAMESPACE/NAME, not by ${JSON.stringify(word)}`);
  }
  const resource = findResource(await cluster().resources(), 'functions.v1.minik8s.io');
  const namespace = second === undefined ? cluster().namespace : first;
  return { resource, namespace, name: second ?? first, manifest: undefined } as ObjectTarget;
}

/** Returns the error of a call, in the function's own words if the function itself answered. */
function callFailure(name: string, error: unknown): unknown {
  const text = error instanceof StatusError ? unexpectedBody(error) : undefined;
  if (!(error instanceof StatusError) || text === undefined) return error;
  const cause = causeIn(text);
  return new Error(
    cause === undefined
      ? `function ${name} answered ${error.status.code}: ${text}`
      : `function ${name} failed: ${cause}`,
  );
}

/**
 * Returns the message in an answer such as `{"error": "KeyError: 'name'"}`, which the runtimes give for a
 * handler that throws.
 */
function causeIn(text: string): string | undefined {
  try {
    return textAt(JSON.parse(text), 'error') || undefined;
  } catch {
    // An image that serves HTTP itself may answer with any text.
    return undefined;
  }
}

/** Prints the answer of the function; rejects with its failure. */
export async function printCall(
  { io, cluster }: VerbContext,
  target: ObjectTarget,
  body: string,
): Promise<void> {
  const path = targetPath(target, 'invoke');
  const headers = { 'content-type': 'application/json', accept: '*/*' };
  const answer = await cluster()
    .open({ method: 'POST', path, headers, body })
    .catch((error: unknown) => {
      throw callFailure(target.name, error);
    });
  let last = '';
  const out = (text: string) => {
    last = text || last;
    io.out(text);
  };
  await printBody({ out }, answer.body);
  if (last !== '' && !last.endsWith('\n')) io.out('\n');
}
