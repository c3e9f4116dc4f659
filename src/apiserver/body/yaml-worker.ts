/** The thread that parses or serializes one YAML text (yaml-thread.ts). */
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { TextError } from '../../apimachinery/value-limit.ts';
import { parseYaml } from '../../apimachinery/yaml.ts';
import { formatYaml } from '../../apimachinery/yaml-output/format-yaml.ts';
import type { YamlAnswer, YamlTask } from './yaml-thread.ts';

function answer({ type, text }: YamlTask): YamlAnswer {
  try {
    if (type === 'write') return { yaml: formatYaml(JSON.parse(text)) };
    const { value, duplicates, repeats } = parseYaml(text);
    return { json: JSON.stringify(value), duplicates, ...(repeats?.length && { repeats }) };
  } catch (error) {
    if (error instanceof TextError || error instanceof RangeError) return { refusal: error.message };
    throw error;
  }
}

// The priority applies to this thread alone on Linux: the main thread comes first when processors are scarce.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
parentPort?.postMessage(answer(workerData as YamlTask));
