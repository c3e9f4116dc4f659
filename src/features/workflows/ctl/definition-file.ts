/** Definitions of workflows in files: alone, or in the manifest of a Workflow. */
import { isRecord } from '../../../apimachinery/equality.ts';
import { parseYaml } from '../../../apimachinery/yaml.ts';
import { errorMessage } from '../../../base/log.ts';
import { FaultsError } from '../../../cli/errors.ts';
import type { Io } from '../../../cli/io.ts';
import { readBounded } from '../../../os/bounded-file.ts';
import { checkDefinition } from '../../../states-language/definition/check-definition.ts';
import type { Definition } from '../../../states-language/definition/types.ts';

/**
 * Reads JSON or YAML from a file, or from standard input for `-`. Rejects with the name of the file if it is
 * neither.
 */
export async function readValue({ readStdin, err, signal }: Io, file: string): Promise<unknown> {
  try {
    const { value, booleanWords } = parseYaml(
      file === '-' ? await readStdin() : (await readBounded(file, { signal })).toString('utf8'),
    );
    for (const { path, word } of booleanWords)
      err(`Warning: ${file}: ${path}: YAML reads ${word} as a boolean; write "${word}" for the word\n`);
    return value;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    if (code === 'ENOENT') throw new Error(`the path "${file}" does not exist`);
    throw new Error(`cannot read ${file}: ${errorMessage(error)}`, { cause: error });
  }
}

/** Returns the unchecked definition of a file. */
export async function readDefinition(io: Io, file: string): Promise<unknown> {
  const value = await readValue(io, file);
  if (!isRecord(value) || value.kind !== 'Workflow') return value;
  return isRecord(value.spec) ? value.spec.definition : undefined;
}

/** Throws an Error for a single fault, and a FaultsError for several. */
export function checkedDefinition(value: unknown): Definition {
  const causes = checkDefinition(value, 'definition');
  const lines = causes.map(({ field, message }) => `${field}: ${message}`);
  if (lines.length === 1) throw new Error(lines[0]);
  if (lines.length > 1) throw new FaultsError('the definition is invalid', lines);
  return value as Definition;
}
