import { testClientIn } from '../support/client-scenarios.js';
import { launchFirefox } from '../support/firefox.js';

testClientIn(launchFirefox);
