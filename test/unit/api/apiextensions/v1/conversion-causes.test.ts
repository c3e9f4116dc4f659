import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  changedBundleCauses,
  conversionCauses,
} from '../../../../../src/api/apiextensions/v1/conversion-causes.ts';
import type {
  CustomResourceConversion,
  CustomResourceDefinition,
} from '../../../../../src/api/apiextensions/v1/types.gen.ts';

const url = 'https://hook.example/convert';
const client = 'spec.conversion.webhookClientConfig';
const reviews = 'spec.conversion.conversionReviewVersions';

const causesOf = (conversion: CustomResourceConversion | undefined, preserves = false) =>
  conversionCauses(conversion, preserves).map(({ field, message }) => `${field}: ${message}`);

const webhook = (clientConfig: object | undefined, conversionReviewVersions = ['v1']) => ({
  strategy: 'Webhook',
  webhook: { ...(clientConfig && { clientConfig }), conversionReviewVersions },
});

const service = (fields: object) => webhook({ service: { namespace: 'a', name: 'b', port: 443, ...fields } });

describe('the conversion of a definition', () => {
  it('may be None, or a webhook with an address and a known review version', () => {
    for (const conversion of [
      { strategy: 'None' },
      webhook({ url }),
      service({ path: '/convert' }),
      webhook({ url }, ['v2', 'v1beta1']),
    ])
      assert.deepEqual(causesOf(conversion), []);
  });

  const wrong: [name: string, CustomResourceConversion | undefined, causes: string[]][] = [
    ['has a strategy', undefined, ['spec.conversion.strategy: Required value']],
    [
      'needs a webhook with strategy Webhook',
      { strategy: 'Webhook' },
      [`${client}: Required value: required when strategy is set to Webhook`, `${reviews}: Required value`],
    ],
    [
      'has not both a URL and a Service',
      webhook({ url, service: { namespace: 'a', name: 'b' } }),
      [`${client}: Required value: exactly one of url or service is required`],
    ],
    [
      'has a URL or a Service',
      webhook({}),
      [`${client}: Required value: exactly one of url or service is required`],
    ],
    [
      'has a URL with TLS',
      webhook({ url: 'http://hook.example' }),
      [
        `${client}.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
      ],
    ],
    [
      'has a Service with a name, a valid port and a valid path',
      service({ name: '', port: 70_000, path: 'xy' }),
      [
        `${client}.service.name: Required value: service name is required`,
        `${client}.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive`,
        `${client}.service.path: Invalid value: "xy": must start with a '/'`,
      ],
    ],
    [
      'has no review version twice',
      webhook({ url }, ['v1', 'v1']),
      [`${reviews}[1]: Invalid value: "v1": duplicate version`],
    ],
    [
      'has one of the known review versions',
      webhook({ url }, ['v7']),
      [`${reviews}: Invalid value: ["v7"]: must include at least one of v1, v1beta1`],
    ],
    [
      'has no webhook with strategy None',
      { ...webhook({ url }), strategy: 'None' },
      [
        `${client}: Forbidden: should not be set when strategy is not set to Webhook`,
        `${reviews}: Forbidden: should not be set when strategy is not set to Webhook`,
      ],
    ],
  ];
  for (const [name, conversion, causes] of wrong)
    it(name, () => assert.deepEqual(causesOf(conversion), causes));

  it('is None if unknown fields are preserved', () => {
    assert.deepEqual(causesOf(webhook({ url }), true), [
      'spec.conversion.strategy: Invalid value: "Webhook": must be None if spec.preserveUnknownFields is true',
    ]);
  });

  it('keeps a readable caBundle once the definition is established', () => {
    const pem = btoa('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
    const definition = (caBundle: string, status = 'True') =>
      ({
        metadata: { name: 'x' },
        spec: { conversion: webhook({ url, caBundle }) },
        status: { conditions: [{ type: 'Established', status }] },
      }) as unknown as CustomResourceDefinition;
    const broken = definition(btoa('no certificate'));
    assert.match(
      changedBundleCauses(broken, definition(pem))[0]?.message ?? '',
      /unable to load root certificates: data does not contain any valid RSA or ECDSA certificates/,
    );
    assert.deepEqual(changedBundleCauses(broken, broken), []);
    assert.deepEqual(changedBundleCauses(broken, definition(pem, 'False')), []);
    assert.deepEqual(changedBundleCauses(definition(pem), definition(pem)), []);
  });
});
