/** `ctl set env --list`: prints the variables of containers. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { errorMessage } from '../../base/log.ts';
import { textAt } from '../objects/objects.ts';
import type { VerbContext } from '../verb.ts';
import { References } from './env-references.ts';
import { containersOf, envOf, isMeant, podSpecOf, sourceOf } from './pod-spec-plan.ts';

interface ListOptions {
  /** Pattern of containers' names, with `*` for any text. */
  readonly containers: string;
  /** True to print the values of references. */
  readonly resolve: boolean;
}

/**
 * Prints the variables of the objects. A variable with a `valueFrom` is a comment, unless its value is
 * resolved; the reasons why values could not be read are printed to standard error.
 */
export async function listEnv(
  { io, cluster }: Pick<VerbContext, 'io' | 'cluster'>,
  objects: AsyncIterable<JsonObject>,
  { containers, resolve }: ListOptions,
): Promise<void> {
  const references = resolve ? new References(cluster) : undefined;
  for await (const object of objects)
    for (const container of containersOf(podSpecOf(object)).filter((one) => isMeant(one, containers))) {
      const { lines, problems } = await linesOf(object, container, references);
      const heading = `# ${object.kind} ${textAt(object, 'metadata', 'name')}, container ${textAt(container, 'name')}`;
      io.out([heading, ...lines].map((line) => `${line}\n`).join(''));
      for (const problem of problems) io.err(`${problem}\n`);
    }
}

async function linesOf(
  object: JsonObject,
  container: JsonObject,
  references: References | undefined,
): Promise<{ readonly lines: string[]; readonly problems: string[] }> {
  const lines: string[] = [];
  const missing = new Map<string, string[]>();
  for (const variable of envOf(container)) {
    const [name, from] = [textAt(variable, 'name'), variable.valueFrom];
    const resolved = isRecord(from)
      ? await references?.valueOf(from, object, container).catch((error) => asProblem(error))
      : textAt(variable, 'value');
    if (typeof resolved === 'string') lines.push(`${name}=${resolved}`);
    else lines.push(`# ${name} from ${sourceOf(from as JsonObject)}`);
    if (typeof resolved === 'object') missing.set(resolved.why, [...(missing.get(resolved.why) ?? []), name]);
  }
  const problems = [...missing].map(
    ([why, names]) => `error retrieving reference for ${names.sort().join(', ')}: ${why}`,
  );
  return { lines, problems: problems.sort() };
}

const asProblem = (error: unknown) => ({ why: errorMessage(error) });
