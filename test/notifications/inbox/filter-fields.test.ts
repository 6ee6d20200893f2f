import { describe, expect, it } from 'vitest';
import { operatorsOf } from '../../../src/lib/filter/fields.js';
import { parseFilter } from '../../../src/lib/filter/parse.js';
import { Problem } from '../../../src/lib/problem.js';
import { notificationFilterFields } from '../../../src/notifications/inbox/filter-fields.js';

const fields = notificationFilterFields(['payment', 'pool', 'request']);

describe('notificationFilterFields', () => {
  it('has every scalar of the notification', () => {
    expect(Object.keys(fields).sort()).toEqual([
      'actor',
      'actor_id',
      'category',
      'created_at',
      'description',
      'id',
      'notification_key',
      'notification_type',
      'object_data_number',
      'object_data_string',
      'object_id',
      'sequence',
      'updated_at',
      'user_id',
    ]);
  });

  it('has like on actor, description and object_data_string only', () => {
    const names = Object.entries(fields).flatMap(([name, field]) =>
      operatorsOf(field).includes('like') ? [name] : [],
    );
    expect(names.sort()).toEqual(['actor', 'description', 'object_data_string']);
  });

  it('knows the types of this installation only', () => {
    const text = 'notification_type:security';
    expect(() => parseFilter(text, fields)).toThrow(Problem);
    expect(parseFilter(text, notificationFilterFields(['payment', 'security']))).toMatchObject([
      { operator: 'eq', values: ['security'] },
    ]);
  });
});
