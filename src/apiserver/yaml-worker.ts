/** The thread that reads one YAML text (yaml-thread.ts). */
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { TextError } from '../apimachinery/value-limit.ts';
import { parseYaml } from '../apimachinery/yaml.ts';
import type { YamlAnswer } from './yaml-thread.ts';

function read(text: string): YamlAnswer {
  try {
    const { value, duplicates } = parseYaml(text);
    return { json: JSON.stringify(value), duplicates };
  } catch (error) {
    if (error instanceof TextError || error instanceof RangeError) return { refusal: error.message };
    throw error;
  }
}

// On Linux the priority is that of the thread: the server comes first when processors are scarce.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
parentPort?.postMessage(read(String(workerData)));
