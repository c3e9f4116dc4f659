/** Fields that Function and FunctionVersion share: the program, and the settings of an instance. */
import * as v from 'valibot';
import { int32, quantity, struct } from '../../../apimachinery/schema.ts';

/** Description of a field for `kubectl explain` and `ctl explain`. */
const text = v.description<string, string>;

export const runtimes = ['nodejs', 'python'] as const;

const keySelector = struct({
  name: v.optional(v.pipe(v.string(), text('Name of the object, in the namespace of the function.')), ''),
  key: v.pipe(v.string(), text('The key whose value is taken.')),
  optional: v.optional(v.pipe(v.boolean(), v.description('Whether the object or the key may be absent.'))),
});

const variable = struct({
  name: v.pipe(v.string(), text('Name of the variable.')),
  value: v.optional(v.pipe(v.string(), text('Its value.'))),
  valueFrom: v.optional(
    v.pipe(
      struct({
        configMapKeyRef: v.optional(v.pipe(keySelector, v.description('A key of a ConfigMap.'))),
        secretKeyRef: v.optional(v.pipe(keySelector, v.description('A key of a Secret.'))),
      }),
      v.description('Where its value is read from when an instance starts.'),
    ),
  ),
});

const amounts = (about: string) => v.optional(v.pipe(v.record(v.string(), quantity()), v.description(about)));

/** Fields of the program. */
export const programFields = {
  runtime: v.optional(
    v.pipe(
      v.picklist(runtimes),
      v.description('The language the files are written in, nodejs or python. Either this or image is set.'),
    ),
  ),
  handler: v.optional(
    v.pipe(
      v.string(),
      text(
        'The function that is called, as MODULE.FUNCTION: main.handler is the function handler of main.py or main.js. ' +
          'Defaults to main.handler.',
      ),
    ),
  ),
  files: v.optional(
    v.pipe(
      v.record(v.string(), v.string()),
      v.description(
        'The text of each file, by its path. requirements.txt or package.json name the libraries that are installed ' +
          'when the function is built.',
      ),
    ),
  ),
  binaryFiles: v.optional(
    v.pipe(
      v.record(v.string(), v.string()),
      v.description('Files that are no UTF-8 text, by their paths, in base64.'),
    ),
  ),
  image: v.optional(
    v.pipe(
      v.string(),
      text(
        'An image that answers HTTP on the port of the variable PORT, instead of a runtime and files. A call is a POST ' +
          'to /.',
      ),
    ),
  ),
};

/** Fields of an instance. */
export const instanceFields = {
  env: v.optional(v.pipe(v.array(variable), v.description('Variables of the environment of each instance.'))),
  resources: v.optional(
    v.pipe(
      struct({
        requests: amounts('What is reserved for each instance.'),
        limits: amounts('What an instance may use at most.'),
      }),
      v.description('Compute resources of each instance, as of a container.'),
    ),
  ),
  timeoutSeconds: v.optional(
    v.pipe(int32(), v.description('How long a call may take, from 1 to 3600 seconds. Defaults to 30.')),
    30,
  ),
  concurrency: v.optional(
    v.pipe(
      int32(),
      v.description('How many calls an instance answers at once, from 1 to 1000. Defaults to 10.'),
    ),
    10,
  ),
};
