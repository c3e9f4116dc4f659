/** Fields that Function and FunctionVersion share: the program, and the settings of an instance. */
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';
import type { RulesByType } from '../../../apimachinery/type-rules.ts';

type Fields = DescribedTypes[string];

export const runtimes = ['nodejs', 'python'] as const;

/** Fields of the program, other than its image. */
export const programFields: Fields = {
  'runtime:string': 'The language the files are written in, nodejs or python. Either this or image is set.',
  'handler:string':
    'The function that is called, as MODULE.FUNCTION: main.handler is the function handler of main.py ' +
    'or main.js. Defaults to main.handler.',
  'files:{}string':
    'The text of each file, by its path. requirements.txt or package.json name the libraries that are ' +
    'installed when the function is built.',
  'binaryFiles:{}string': 'Files that are not UTF-8 text, by their paths, in base64.',
};

/** Returns the fields of an instance, in the spec of the kind. */
export const instanceFields = (kind: string): Fields => ({
  [`env:[]${kind}SpecEnv`]: 'Variables of the environment of each instance.',
  [`resources:${kind}SpecResources`]: 'Compute resources of each instance, as of a container.',
  'timeoutSeconds:int32': 'Timeout of a call in seconds, from 1 to 3600. Defaults to 30.',
  'concurrency:int32': 'Maximum number of concurrent calls of an instance, from 1 to 1000. Defaults to 10.',
});

export const instanceDefaults = { timeoutSeconds: 30, concurrency: 10 } as const;

const keySelector: Fields = {
  'name:string': 'Name of the object, in the namespace of the function.',
  'key!:string': 'The key whose value is used.',
  'optional:bool': 'Whether the object or the key may be absent.',
};

/** Returns the types inside of the fields of an instance. */
export const instanceTypes = (kind: string): DescribedTypes => ({
  [`${kind}SpecEnv`]: {
    'name!:string': 'Name of the variable.',
    'value:string': 'Its value.',
    [`valueFrom:${kind}SpecEnvValueFrom`]: 'The source from which the value is read when an instance starts.',
  },
  [`${kind}SpecEnvValueFrom`]: {
    [`configMapKeyRef:${kind}SpecEnvValueFromConfigMapKeyRef`]: 'A key of a ConfigMap.',
    [`secretKeyRef:${kind}SpecEnvValueFromSecretKeyRef`]: 'A key of a Secret.',
  },
  [`${kind}SpecEnvValueFromConfigMapKeyRef`]: keySelector,
  [`${kind}SpecEnvValueFromSecretKeyRef`]: keySelector,
  [`${kind}SpecResources`]: {
    'requests:{}quantity': 'Resources that are reserved for each instance.',
    'limits:{}quantity': 'Maximum resources that an instance may use.',
  },
});

/** Returns the rules of these types. */
export const instanceRules = (kind: string): RulesByType => ({
  [`${kind}SpecEnvValueFromConfigMapKeyRef`]: { defaults: { name: '' } },
  [`${kind}SpecEnvValueFromSecretKeyRef`]: { defaults: { name: '' } },
});
