import { afterAll, beforeAll } from 'vitest';
import { BUILD_TIMEOUT, buildService, startTestService, type TestService } from '../support/process.js';
import { describeErrors } from './interface/errors.js';
import { describeLogin } from './interface/login.js';
import { describeNotificationQueries } from './interface/notification-queries.js';
import { describeNotifications } from './interface/notifications.js';
import { describeResources } from './interface/resources.js';
import { describeSessions } from './interface/sessions.js';
import { describeTokens } from './interface/tokens.js';

let service: TestService;
beforeAll(async () => {
  await buildService();
  service = await startTestService();
}, BUILD_TIMEOUT);
afterAll(() => service.stop());

describeResources(() => service);
describeErrors(() => service);
describeLogin(() => service);
describeNotifications(() => service);
describeNotificationQueries(() => service);
describeSessions(() => service);
describeTokens(() => service);
