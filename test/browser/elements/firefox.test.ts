import { testElementsIn } from '../../support/element-scenarios.js';
import { launchFirefox } from '../../support/firefox.js';

testElementsIn(launchFirefox);
