/** Definitions and custom resources that both servers get. */

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const group = 'bench.example.com';

const times = <T>(count: number, item: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => item(index));

const text = { type: 'string', maxLength: 100 };

/** Returns a definition; `spec` is the schema of the field of that name. */
function definition(kind: string, of: string, spec: object) {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${of}` },
    spec: {
      group: of,
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  };
}

/** Returns one of the many definitions, of about 20 kB; ten have a group together. */
export const largeDefinition = (number: number, run = '') =>
  definition(`Large${run}${number}`, `g${Math.floor(number / 10)}.many.example.com`, {
    type: 'object',
    properties: Object.fromEntries(
      times(100, (index) => [
        `field${index}`,
        {
          type: 'object',
          description: `Field ${index} of the resource, with a description as long as those of providers are.`,
          properties: { name: text, count: { type: 'integer', minimum: 0, maximum: 100 } },
        },
      ]),
    ),
  });

const ruleCount = 20;

/** The kind whose objects are written and read: 3 KB, checked by 20 rules. */
export const ruled = definition('Ruled', group, {
  type: 'object',
  required: ['settings', 'replicas'],
  properties: {
    replicas: { type: 'integer', minimum: 0 },
    settings: {
      type: 'array',
      maxItems: 50,
      items: {
        type: 'object',
        required: ['name', 'value'],
        properties: { name: text, value: { type: 'string', maxLength: 200 } },
        'x-kubernetes-validations': [{ rule: 'self.name != self.value', message: 'a name is no value' }],
      },
    },
  },
  'x-kubernetes-validations': [
    { rule: 'self.settings.all(one, one.name.startsWith("SETTING_"))' },
    { rule: 'self.settings.exists(one, one.name.endsWith("_0"))' },
    { rule: 'self.replicas == oldSelf.replicas || self.replicas < 100' },
    ...times(ruleCount - 4, (index) => ({
      rule: `self.replicas >= 0 && (self.replicas != ${1000 + index} || self.settings.size() > ${index})`,
      message: `replicas ${1000 + index} need more settings`,
    })),
  ],
});

export const ruledPath = `/apis/${group}/v1/namespaces/created/ruleds`;

/** Returns an object of about 3 KB. */
export const ruledObject = (name: string) => ({
  apiVersion: `${group}/v1`,
  kind: 'Ruled',
  metadata: { name, labels: { app: 'bench' }, annotations: { 'bench.example.com/count': '0' } },
  spec: {
    replicas: 3,
    settings: times(24, (index) => ({
      name: `SETTING_NUMBER_${index}`,
      value: `the value of setting ${index}, ${'x'.repeat(50)}`,
    })),
  },
});
